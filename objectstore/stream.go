package objectstore

import (
	"context"
	"errors"
	"io"
)

// A Stream reads a file in order, or parts of it in order. It requests much at a time after
// consecutive reads, and little after a jump. It reads and discards a gap if another
// request would take longer. It buffers nothing. It is for one goroutine, and Close must be
// called.
type Stream struct {
	ctx   context.Context
	of    *File
	r     *Reader // nil before the first read
	ahead int64   // size of the last request
}

// Stream returns a stream of the file.
func (f *File) Stream(ctx context.Context) *Stream { return &Stream{ctx: ctx, of: f} }

const (
	leastAhead = 16 << 10
	maxAhead   = 64 << 20
	// skipBytes is the largest gap that is discarded rather than skipped by a new request:
	// a good connection delivers it in the time of a request.
	skipBytes = 1 << 20
)

// ReadAt implements io.ReaderAt.
func (s *Stream) ReadAt(b []byte, at int64) (n int, err error) {
	if at < 0 || at > s.of.Size {
		return 0, errors.New("objectstore: an offset outside of the file")
	}
	whole := len(b)
	b = b[:min(int64(len(b)), s.of.Size-at)]
	for n < len(b) {
		if err := s.to(at+int64(n), int64(len(b)-n)); err != nil {
			return n, err
		}
		m := min(int64(len(b)-n), s.r.Left())
		if err := s.r.full(b[n : n+int(m)]); err != nil {
			return n, err
		}
		n += int(m)
	}
	if n < whole {
		return n, io.EOF
	}
	return n, nil
}

// to moves to an offset from which n bytes are needed, at least 1.
func (s *Stream) to(at, n int64) error {
	near := s.r != nil && at >= s.r.at && at-s.r.at <= skipBytes
	if near && at < s.r.end {
		_, err := io.CopyN(io.Discard, s.r, at-s.r.at)
		return err
	}
	if s.ahead *= 4; !near {
		s.ahead = leastAhead
	}
	s.ahead = min(max(s.ahead, n), max(maxAhead, n))
	if s.of.Whole { // a request costs all bytes before the offset
		s.ahead = s.of.Size
	}
	if err := s.Close(); err != nil {
		return err
	}
	var err error
	s.r, err = s.of.Reader(s.ctx, at, min(s.ahead, s.of.Size-at))
	return err
}

// Close ends the stream.
func (s *Stream) Close() error {
	if s.r == nil {
		return nil
	}
	return s.r.Close()
}
