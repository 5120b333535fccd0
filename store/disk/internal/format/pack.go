package format

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/zeebo/xxh3"
)

// A Pack is a pack to be read: records, one after another.
type Pack struct {
	ID     uint64 // with which its records are sealed
	Reader io.ReaderAt
}

// heads are for reading headers alone.
var heads = sync.Pool{New: func() any { return new([HeaderSize]byte) }}

// Header reads the header of the record at at.
func (p *Pack) Header(h *Header, at Place) error {
	buf := heads.Get().(*[HeaderSize]byte)
	defer heads.Put(buf)
	return p.readRecord(h, at, buf[:])
}

// readRecord fills buf, which begins with a header, from at.
func (p *Pack) readRecord(h *Header, at Place, buf []byte) error {
	if err := p.readAt(buf, at.Offset()); err != nil {
		return err
	}
	return p.Check(h, at, buf)
}

// readAt fills b with what is in a record. An error of the medium is no damage: it
// may give the same bytes another time.
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

// Check decodes the header of the record at at, which b begins with.
func (p *Pack) Check(h *Header, at Place, b []byte) error {
	if !h.decode(b, p.ID, at.Offset()) {
		return fmt.Errorf("%w: bad header", ErrDamaged)
	}
	if h.ReadSize() != int64(at.ReadSize()) {
		return fmt.Errorf("%w: another record is in its place", ErrDamaged)
	}
	return nil
}

// Read reads the header and what follows of the value, which only Header.Verify
// checks.
func (p *Pack) Read(h *Header, at Place) (payload []byte, err error) {
	buf := make([]byte, at.ReadSize())
	if err := p.readRecord(h, at, buf); err != nil {
		return nil, err
	}
	return buf[HeaderSize:], nil
}

// Provenance reads the provenance of the record with header h at at, verified.
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

// ReadWhole reads all of a record that is in no group, verified.
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
