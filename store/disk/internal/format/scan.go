package format

import (
	"bytes"
	"errors"
	"io"
)

// A Scan is what was found in a part of a pack.
type Scan struct {
	Entries []Entry
	End     int64    // go on from here when the pack has grown
	Indexed int64    // an index file covers this much
	Torn    bool     // a record begins at End but is not whole yet
	Damaged []Extent // bytes that are no records
}

// An Extent is a part of a pack, in bytes.
type Extent struct{ From, To int64 }

// Scan reads the headers of the records between two offsets, and groups. After
// damage it goes on at the next header that is valid, so that damage costs no
// more than the records it hit. Holes, which a crash may leave between records, too,
// are not read where the reader tells of them. Damage at the very end may be a record
// that another process is writing: it is left for the next scan.
func (p *Pack) Scan(from, size int64) (Scan, error) {
	size = ScanEnd(size)
	s := Scan{End: from}
	w := window{r: p.Reader, size: size}
	g := BorrowGroup()
	defer g.GiveBack()
	for off := from; off+HeaderSize <= size; {
		b, err := w.at(off, HeaderSize)
		if err != nil {
			return s, err
		}
		var h Header
		if !h.decode(b, p.ID, off) {
			off = w.skip(off + nextMagic(b))
			continue
		}
		if off > s.End {
			s.Damaged = append(s.Damaged, Extent{s.End, off})
			s.End = off
		}
		if off+h.Length() > size {
			s.Torn = true
			return s, nil
		}
		if h.Kind == KindGroup {
			if b, err = w.at(off, h.ReadSize()); err != nil {
				return s, err
			}
			g.header = h
			if s.Entries, err = g.list(s.Entries, off, b[HeaderSize:h.ReadSize()]); err != nil {
				off += h.Length() // no record begins in it
				continue
			}
		} else {
			s.Entries = append(s.Entries, NewEntry(&h, off))
		}
		off += h.Length()
		s.End = off
	}
	return s, nil
}

// ScanEnd is how far a pack that is size bytes long is read.
func ScanEnd(size int64) int64 { return min(size, MaxPack) &^ (align - 1) }

// ScanIndexed is scan with the help of an index: what lies beyond is read. An index
// that is damaged is no help.
func (p *Pack) ScanIndexed(index []byte, from, size int64) (found Scan, indexErr, err error) {
	entries, covered, indexErr := decodeIndex(index, p.ID, size, from)
	found, err = p.Scan(max(covered, from), size)
	found.Entries = append(entries, found.Entries...)
	found.Indexed = covered
	return found, indexErr, err
}

// nextMagic returns how far after the beginning of b the next header may
// begin: a multiple of align, at least 1 of them.
func nextMagic(b []byte) int64 {
	for from := align; ; {
		i := bytes.Index(b[from:], []byte(magic))
		if i < 0 {
			// The magic may begin in the last bytes of the window.
			return max(align, roundUp(int64(len(b)-len(magic)+1)))
		}
		if i += from; i%align == 0 {
			return int64(i)
		}
		from = i + 1
	}
}

// A window reads a file in large steps.
type window struct {
	r    io.ReaderAt
	size int64 // of the file
	buf  []byte
	data []byte // the part of buf that is filled
	base int64  // offset of data in the file
}

const windowSize = 128 << 10

// skip returns where a header may begin, from off on: beyond what was read already, not
// in a hole.
func (w *window) skip(off int64) int64 {
	sparse, ok := w.r.(interface{ Data(off int64) int64 })
	if !ok || off+HeaderSize <= w.base+int64(len(w.data)) {
		return off
	}
	return max(off, min(sparse.Data(off)&^(align-1), w.size))
}

// at returns the bytes at off, at least n of them, which is no more than
// windowSize.
func (w *window) at(off, n int64) ([]byte, error) {
	if off >= w.base && off+n <= w.base+int64(len(w.data)) {
		return w.data[off-w.base:], nil
	}
	if w.buf == nil {
		w.buf = make([]byte, min(windowSize, w.size-off))
	}
	got, err := w.r.ReadAt(w.buf[:min(int64(len(w.buf)), w.size-off)], off)
	if int64(got) < n {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	w.data, w.base = w.buf[:got], off
	return w.data, nil
}
