package stream

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

// A spool stores records on disk, in files that are removed when no longer needed.
type spool struct {
	dir   string
	files []*spoolFile // by age; the last is being written
}

type spoolFile struct {
	*os.File
	size int64
	end  uint64 // 1 + the position of the last record
}

// A place locates a record in a spool.
type place struct {
	file *spoolFile
	at   int64
}

// spoolBytes is the size after which a new file begins.
const spoolBytes = 16 << 20

func newSpool(dir string) *spool { return &spool{dir: dir} }

func (s *spool) empty() bool { return len(s.files) == 0 }

// put writes the record at a position, which must be after those already written.
func (s *spool) put(record []byte, position uint64) (place, error) {
	if s.empty() || s.files[len(s.files)-1].size >= spoolBytes {
		f, err := os.CreateTemp(s.dir, "larder-fork-*")
		if err != nil {
			return place{}, fmt.Errorf("branches are so far apart that elements must be written to a file: %w; temporary files are in the directory that Dir or TMPDIR names", err)
		}
		_ = os.Remove(f.Name()) // on systems that cannot remove open files, it is removed at closing
		s.files = append(s.files, &spoolFile{File: f, end: position})
	}
	f := s.files[len(s.files)-1]
	b := append(binary.LittleEndian.AppendUint64(make([]byte, 0, 8+len(record)), uint64(len(record))), record...)
	if _, err := f.WriteAt(b, f.size); err != nil {
		return place{}, fmt.Errorf("branches are so far apart that elements must be written to a file: %w", err)
	}
	at := place{f, f.size}
	f.size += int64(len(b))
	f.end = position + 1
	return at, nil
}

var errSpool = errors.New("a temporary file is not what was written to it")

// get reads the record at a place, and advances to the next.
func (s *spool) get(p *place) ([]byte, error) {
	if p.file != nil && p.at >= p.file.size {
		for i, f := range s.files[:len(s.files)-1] {
			if f == p.file {
				*p = place{s.files[i+1], 0}
				break
			}
		}
	}
	if p.file == nil || p.at+8 > p.file.size {
		return nil, errSpool
	}
	var head [8]byte
	if _, err := p.file.ReadAt(head[:], p.at); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(head[:])
	if n > uint64(p.file.size-p.at-8) {
		return nil, errSpool
	}
	b := make([]byte, n)
	if _, err := p.file.ReadAt(b, p.at+8); err != nil {
		return nil, err
	}
	p.at += 8 + int64(n)
	return b, nil
}

// trim removes files whose records are all before a position.
func (s *spool) trim(before uint64) {
	for len(s.files) > 0 && s.files[0].end <= before {
		s.files[0].remove()
		s.files = s.files[1:]
	}
}

func (s *spool) close() {
	for _, f := range s.files {
		f.remove()
	}
	s.files = nil
}

func (f *spoolFile) remove() {
	_ = f.Close()
	_ = os.Remove(f.Name()) // already removed, except on systems that cannot remove open files
}
