package blockcache

import (
	"context"
	"errors"
	"io"
)

// From returns random access to the file for one goroutine, and a function that ends it.
// Consecutive small reads are combined into fewer requests.
func (f *File) From(ctx context.Context) (from io.ReaderAt, done func() error) {
	if !f.Keeps(ctx) {
		s := f.Stream(ctx)
		return s, s.Close
	}
	return readerAt{ctx, f}, func() error { return nil }
}

// A Stream reads a file sequentially: see [objectstore.Stream].
type Stream interface {
	io.ReaderAt
	io.Closer
}

// Stream returns a sequential reader that caches nothing.
func (f *File) Stream(ctx context.Context) Stream {
	if f.copy != nil {
		return readerAt{ctx, f}
	}
	return f.File.Stream(ctx)
}

// Close implements io.Closer.
func (r readerAt) Close() error { return nil }

// readerAt reads cached blocks.
type readerAt struct {
	ctx context.Context
	of  *File
}

// ReadAt implements io.ReaderAt.
func (r readerAt) ReadAt(b []byte, at int64) (int, error) {
	if at < 0 || at > r.of.Size {
		return 0, errors.New("block: offset outside the file")
	}
	n := int(min(int64(len(b)), r.of.Size-at))
	if err := r.of.ReadAt(r.ctx, b[:n], at); err != nil {
		return 0, err
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}
