package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

const packSuffix = ".pack"

// A pack is a file of records. One writer at a time holds its lock and
// appends; all others read. A pack without write permission is sealed: it
// will not grow again.
type pack struct {
	id     uint64
	number uint32
	path   string
	file   *os.File
	own    atomic.Bool // this process appends to it
	gone   atomic.Bool // the file was removed from the folder

	// Guarded by index.mu: what the index has of it.
	known int64  // records before this offset
	blobs uint64 // bytes of their blobs

	// Guarded by folderView.mu.
	end     int64 // records before this offset are known
	size    int64 // when last looked at
	mtime   int64 // ns, when last looked at
	sealed  bool
	indexed int64 // the index file covers records before this offset
}

// learn counts a record that the index is told of. It may have been before.
func (p *pack) learn(e *entry) {
	if e.offset() >= p.known {
		p.known = e.offset() + e.bytes()
		p.blobs += e.blob
	}
}

func packName(id uint64) string { return fmt.Sprintf("%016x%s", id, packSuffix) }

// parsePackName returns the id in a file name.
func parsePackName(name string) (id uint64, ok bool) {
	digits, ok := strings.CutSuffix(name, packSuffix)
	if !ok || len(digits) != 16 {
		return 0, false
	}
	id, err := strconv.ParseUint(digits, 16, 64)
	return id, err == nil && packName(id) == name
}

func (p *pack) indexPath() string { return strings.TrimSuffix(p.path, packSuffix) + indexSuffix }

func isSealed(info os.FileInfo) bool { return info.Mode()&0o222 == 0 }

// header reads the header of the record at at.
func (p *pack) header(h *header, at place) error {
	var buf [headerSize]byte
	return p.readRecord(h, at, buf[:])
}

// readRecord fills buf, which begins with a header, from at.
func (p *pack) readRecord(h *header, at place, buf []byte) error {
	if _, err := p.file.ReadAt(buf, at.offset()); err != nil {
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("%w: the pack ends inside the record", errDamaged)
		}
		return err
	}
	return p.check(h, at, buf)
}

// check decodes the header of the record at at, which b begins with.
func (p *pack) check(h *header, at place, b []byte) error {
	if !h.decode(b, p.id, at.offset()) {
		return fmt.Errorf("%w: bad header", errDamaged)
	}
	if h.readSize() != int64(at.readSize()) {
		return fmt.Errorf("%w: another record is in its place", errDamaged)
	}
	return nil
}

// A scan is what was found in a part of a pack.
type scan struct {
	entries []entry
	end     int64    // go on from here when the pack has grown
	indexed int64    // an index file covers this much
	torn    bool     // a record begins at end but is not whole yet
	damaged []extent // bytes that are no records
}

type extent struct{ from, to int64 }

// scanPack reads the headers of the records between two offsets, and groups. After
// damage it goes on at the next header that is valid, so that damage costs no
// more than the records it hit. Damage at the very end may be a record that
// another process is writing: it is left for the next scan.
func scanPack(r io.ReaderAt, id uint64, from, size int64) (scan, error) {
	size = min(size, maxPack)
	s := scan{end: from}
	w := window{r: r, size: size}
	g := borrowGroup()
	defer g.giveBack()
	for off := from; off+headerSize <= size; {
		b, err := w.at(off, headerSize)
		if err != nil {
			return s, err
		}
		var h header
		if !h.decode(b, id, off) {
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
