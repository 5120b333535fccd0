package disk

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/zeebo/xxh3"
)

// A packFile is a pack to be read: records, one after another.
type packFile struct {
	id     uint64
	reader io.ReaderAt
}

// heads are for reading headers alone.
var heads = sync.Pool{New: func() any { return new([headerSize]byte) }}

// header reads the header of the record at at.
func (p *packFile) header(h *header, at place) error {
	buf := heads.Get().(*[headerSize]byte)
	defer heads.Put(buf)
	return p.readRecord(h, at, buf[:])
}

// readRecord fills buf, which begins with a header, from at.
func (p *packFile) readRecord(h *header, at place, buf []byte) error {
	if _, err := p.reader.ReadAt(buf, at.offset()); err != nil {
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("%w: the pack ends inside the record", errDamaged)
		}
		return err
	}
	return p.check(h, at, buf)
}

// check decodes the header of the record at at, which b begins with.
func (p *packFile) check(h *header, at place, b []byte) error {
	if !h.decode(b, p.id, at.offset()) {
		return fmt.Errorf("%w: bad header", errDamaged)
	}
	if h.readSize() != int64(at.readSize()) {
		return fmt.Errorf("%w: another record is in its place", errDamaged)
	}
	return nil
}

// read reads the header and what follows of the value, which only header.verify
// checks.
func (p *packFile) read(h *header, at place) (payload []byte, err error) {
	buf := make([]byte, at.readSize())
	if err := p.readRecord(h, at, buf); err != nil {
		return nil, err
	}
	return buf[headerSize:], nil
}

// provenance reads the provenance of the record with header h at at, verified.
func (p *packFile) provenance(h *header, at place) ([]byte, error) {
	b := make([]byte, h.provenance)
	if _, err := p.reader.ReadAt(b, at.offset()+h.readSize()); err != nil && len(b) > 0 {
		return nil, fmt.Errorf("%w: provenance: %w", errDamaged, err)
	}
	if xxh3.Hash(b) != h.provenanceSum {
		return nil, fmt.Errorf("%w: provenance has a bad checksum", errDamaged)
	}
	return b, nil
}

// readWhole reads all of a record that is in no group, verified.
func (p *packFile) readWhole(h *header, at place) (payload, provenance []byte, err error) {
	if payload, err = p.read(h, at); err != nil {
		return nil, nil, err
	}
	if provenance, err = p.provenance(h, at); err != nil {
		return nil, nil, err
	}
	if h.kind == kindInline {
		err = h.verify(payload)
	}
	return payload, provenance, err
}
