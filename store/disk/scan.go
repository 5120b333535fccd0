package disk

import (
	"bytes"
	"errors"
	"io"
)

// A scan is what was found in a part of a pack.
type scan struct {
	entries []entry
	end     int64    // go on from here when the pack has grown
	indexed int64    // an index file covers this much
	torn    bool     // a record begins at end but is not whole yet
	damaged []extent // bytes that are no records
}

type extent struct{ from, to int64 }

// scan reads the headers of the records between two offsets, and groups. After
// damage it goes on at the next header that is valid, so that damage costs no
// more than the records it hit. Damage at the very end may be a record that
// another process is writing: it is left for the next scan.
func (p *packFile) scan(from, size int64) (scan, error) {
	size = min(size, maxPack)
	s := scan{end: from}
	w := window{r: p.reader, size: size}
	g := borrowGroup()
	defer g.giveBack()
	for off := from; off+headerSize <= size; {
		b, err := w.at(off, headerSize)
		if err != nil {
			return s, err
		}
		var h header
		if !h.decode(b, p.id, off) {
			off += nextMagic(b)
			continue
		}
		if off > s.end {
			s.damaged = append(s.damaged, extent{s.end, off})
			s.end = off
		}
		if off+h.length() > size {
			s.torn = true
			return s, nil
		}
		if h.kind == kindGroup {
			if b, err = w.at(off, h.readSize()); err != nil {
				return s, err
			}
			g.header = h
			if s.entries, err = g.list(s.entries, off, b[headerSize:h.readSize()]); err != nil {
				off += h.length() // no record begins in it
				continue
			}
		} else {
			s.entries = append(s.entries, newEntry(&h, off))
		}
		off += h.length()
		s.end = off
	}
	return s, nil
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
