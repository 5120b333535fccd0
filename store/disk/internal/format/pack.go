package format

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/zeebo/xxh3"
)

// A Pack reads a pack: records, one after another.
type Pack struct {
	ID     uint64 // seeds the checksums of its records
	Reader io.ReaderAt
}

// heads holds buffers for single headers.
var heads = sync.Pool{New: func() any { return new([HeaderSize]byte) }}

// Header reads the header of the record at at.
func (p *Pack) Header(h *Header, at Place) error {
	buf := heads.Get().(*[HeaderSize]byte)
	defer heads.Put(buf)
	return p.readRecord(h, at, buf[:])
}

// readRecord fills buf, which starts with a header, from the position at.
func (p *Pack) readRecord(h *Header, at Place, buf []byte) error {
	if err := p.readAt(buf, at.Offset()); err != nil {
		return err
	}
	return p.Check(h, at, buf)
}

// readAt fills b with a part of a record. An error of the medium is not damage.
func (p *Pack) readAt(b []byte, off int64) error {
	n, err := p.Reader.ReadAt(b, off)
	switch {
	case n == len(b):
		return nil
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%w: the pack ends inside the record", ErrDamaged)
	}
	return err
}

// Check decodes the header at the start of b, of the record at at.
func (p *Pack) Check(h *Header, at Place, b []byte) error {
	if !h.decode(b, p.ID, at.Offset()) {
		return fmt.Errorf("%w: bad header", ErrDamaged)
	}
	if h.ReadSize() != int64(at.ReadSize()) {
		return fmt.Errorf("%w: another record is in its place", ErrDamaged)
	}
	return nil
}

// Read reads the header and the inline payload, which only Header.Verify checks.
func (p *Pack) Read(h *Header, at Place) (payload []byte, err error) {
	buf := make([]byte, at.ReadSize())
	if err := p.readRecord(h, at, buf); err != nil {
		return nil, err
	}
	return buf[HeaderSize:], nil
}

// Provenance reads the verified provenance of the record with header h at at.
func (p *Pack) Provenance(h *Header, at Place) ([]byte, error) {
	b := make([]byte, h.ProvenanceSize)
	if err := p.readAt(b, at.Offset()+h.ReadSize()); err != nil {
		return nil, err
	}
	if xxh3.Hash(b) != h.ProvenanceSum {
		return nil, fmt.Errorf("%w: provenance has a bad checksum", ErrDamaged)
	}
	return b, nil
}

// ReadWhole reads a whole, verified record that is not in a group.
func (p *Pack) ReadWhole(h *Header, at Place) (payload, provenance []byte, err error) {
	if payload, err = p.Read(h, at); err != nil {
		return nil, nil, err
	}
	if provenance, err = p.Provenance(h, at); err != nil {
		return nil, nil, err
	}
	if h.Kind == KindInline {
		err = h.Verify(payload)
	}
	return payload, provenance, err
}
