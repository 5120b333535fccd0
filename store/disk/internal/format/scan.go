package format

import (
	"bytes"
	"errors"
	"io"
)

// A Scan is the result of scanning a part of a pack.
type Scan struct {
	Entries []Entry
	End     int64    // continue here when the pack has grown
	Indexed int64    // bytes that an index file covers
	Torn    bool     // a record at End is incomplete
	Damaged []Extent // bytes that are not records
}

// An Extent is a part of a pack, in bytes.
type Extent struct{ From, To int64 }

// Scan reads the headers of the records between two offsets, and groups. After damage it
// continues at the next valid header, so damage costs only the records it hit. It skips
// holes, which a crash may leave between records, if the reader reports them. Damage at the
// very end may be a record that another process is writing; it is left for the next scan.
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

// ScanEnd returns how far a pack of size bytes is read.
func ScanEnd(size int64) int64 { return min(size, MaxPack) &^ (align - 1) }

// ScanIndexed is Scan with an index: it reads only what the index does not cover. It
// ignores a damaged index.
func (p *Pack) ScanIndexed(index []byte, from, size int64) (found Scan, indexErr, err error) {
	entries, covered, indexErr := decodeIndex(index, p.ID, size, from)
	found, err = p.Scan(max(covered, from), size)
	found.Entries = append(entries, found.Entries...)
	found.Indexed = covered
	return found, indexErr, err
}

// nextMagic returns the offset in b at which the next header may begin: a positive multiple
// of align.
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

// A window reads a file in large pieces.
type window struct {
	r    io.ReaderAt
	size int64 // of the file
	buf  []byte
	data []byte // the filled part of buf
	base int64  // offset of data in the file
}

const windowSize = 128 << 10

// skip returns the first offset from off on at which a header may begin: after the bytes
// already read, and not in a hole.
func (w *window) skip(off int64) int64 {
	sparse, ok := w.r.(interface{ Data(off int64) int64 })
	if !ok || off+HeaderSize <= w.base+int64(len(w.data)) {
		return off
	}
	return max(off, min(sparse.Data(off)&^(align-1), w.size))
}

// at returns at least n bytes at off; n is at most windowSize.
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
