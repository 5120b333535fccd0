package webdataset

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/larder-data/larder/format/internal/members"
	"github.com/larder-data/larder/stream/content"
)

// scan finds the members of an archive, without reading their content.
func scan(ctx context.Context, path string, from io.ReaderAt, size int64, incomplete bool) (members.Index, error) {
	s := scanner{at: &cursor{from: from, size: size}, incomplete: incomplete, to: members.NewBuilder(placeBytes)}
	err := s.scan(ctx)
	if err == nil && len(s.links) > 0 {
		err = follow(ctx, from, size, s.headers, s.links, s.to)
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	x, err := s.to.Index()
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return x, err
}

type scanner struct {
	at         *cursor
	incomplete bool
	to         *members.Builder
	headers    int
	links      []link // that are members of samples
	end        int64  // of the last member, with the padding of its last block
}

func (s *scanner) scan(ctx context.Context) error {
	r := tar.NewReader(s.at)
	for {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			if s.at.size < blockBytes { // it may be of any format, even if incomplete is set
				return errors.New("too short for a tar archive")
			}
			if s.incomplete && errors.Is(err, io.ErrUnexpectedEOF) {
				return nil
			}
			return fmt.Errorf("byte %d: %w", s.at.at, explained(err))
		}
		file, err := content.IsFile(h)
		if err != nil {
			return err
		}
		if file && h.Size > s.at.size-s.at.at { // prevents overflow of sums with the size
			if s.incomplete {
				return nil
			}
			return fmt.Errorf("the archive is truncated in %s; set incomplete: true to read the rest", h.Name)
		}
		s.headers++
		if err := s.add(h, file); err != nil {
			return err
		}
	}
	if !s.incomplete && !s.ended() {
		return errors.New("the end of the archive is missing; set incomplete: true to read the rest")
	}
	return nil
}

// ended reports whether a block of zeros follows the last member, because the header of
// a truncated member may be long, too.
func (s *scanner) ended() bool {
	if s.at.at < s.end+blockBytes {
		return false
	}
	b, err := s.at.last(blockBytes)
	return err == nil && bytes.Equal(b, make([]byte, blockBytes))
}

// add adds the next member, which may be a file.
func (s *scanner) add(h *tar.Header, file bool) error {
	l, isLink := linkOf(h)
	switch {
	case file:
		s.end = s.at.at + (h.Size+blockBytes-1)/blockBytes*blockBytes
	case !isLink:
		return nil // directories and devices have no data
	}
	if _, _, ok := members.SplitName(h.Name); !ok {
		return nil
	}
	if !utf8.ValidString(h.Name) {
		return fmt.Errorf("member name %q is not UTF-8; rename it and create the archive again", h.Name)
	}
	if isLink {
		l.member = s.to.Len()
		s.links = append(s.links, l)
	}
	return s.to.Add(h.Name, placeOf(s.at.at, h.Size))
}

const blockBytes = 512

// placeBytes is the size of a position: the offset of the content, and its size.
const placeBytes = 2 * 8

func placeOf(at, size int64) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(at)), uint64(size))
}

func placed(place []byte) (at, size int64) {
	return int64(binary.LittleEndian.Uint64(place)), int64(binary.LittleEndian.Uint64(place[8:]))
}

// explained returns a human-readable error about an archive.
func explained(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the archive is truncated; set incomplete: true to read the rest")
	case errors.Is(err, tar.ErrHeader):
		return errors.New("not a tar archive, or damaged")
	}
	return err
}

// A cursor reads a file at any offset. It reads ahead for small steps, and does not read
// the ranges between jumps.
type cursor struct {
	from     io.ReaderAt
	size, at int64
	buffer   []byte
	start    int64 // of the buffer
	ahead    int
}

const (
	leastAhead = 4 << 10
	maxAhead   = 256 << 10
)

// Read implements io.Reader.
func (c *cursor) Read(b []byte) (int, error) {
	if c.at >= c.size {
		return 0, io.EOF
	}
	if c.at < c.start || c.at >= c.start+int64(len(c.buffer)) {
		if err := c.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(b, c.buffer[c.at-c.start:])
	c.at += int64(n)
	return n, nil
}

// fill reads at the current offset: more for sequential reads, and little after a jump.
func (c *cursor) fill() error {
	if c.ahead = min(2*c.ahead, maxAhead); c.at != c.start+int64(len(c.buffer)) {
		c.ahead = leastAhead
	}
	c.ahead = max(c.ahead, leastAhead)
	if cap(c.buffer) < c.ahead {
		c.buffer = make([]byte, c.ahead)
	}
	c.buffer, c.start = c.buffer[:min(int64(c.ahead), c.size-c.at)], c.at
	_, err := io.ReadFull(io.NewSectionReader(c.from, c.at, int64(len(c.buffer))), c.buffer)
	if err != nil {
		c.buffer = c.buffer[:0]
	}
	return err
}

// last returns the n bytes before the current offset, from the buffer if possible.
func (c *cursor) last(n int64) ([]byte, error) {
	if from := c.at - n - c.start; from >= 0 && c.at-c.start <= int64(len(c.buffer)) {
		return c.buffer[from : from+n], nil
	}
	b := make([]byte, n)
	if read, err := c.from.ReadAt(b, c.at-n); read < len(b) {
		return nil, err
	}
	return b, nil
}

// Seek implements io.Seeker, for skipping the content of members.
func (c *cursor) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += c.at
	case io.SeekEnd:
		offset += c.size
	}
	if offset < 0 { // overflow, as no caller seeks backward
		return 0, io.ErrUnexpectedEOF
	}
	c.at = offset
	return offset, nil
}
