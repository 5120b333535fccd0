// Package content provides streams of files and of their content: lines, rows,
// documents, members of archives. It opens each file in turn, reads it once from
// beginning to end, and bounds its use of memory, whatever the file declares. A state
// within a file is resumed by reading this file again from its beginning.
package content

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/larder-data/larder/stream"
)

// A File is a source of bytes that is read from beginning to end.
type File struct {
	// Name is the file's name. Its extensions select the decompression, and [Save] writes
	// the file under this name.
	Name string
	// Open opens the file for reading.
	Open func(ctx context.Context) (io.ReadCloser, error)
	// Live says that the file can be read only once.
	Live bool

	path string // of a file on disk
}

// Files returns a stream of files on disk, given by their paths.
func Files(paths ...string) stream.Stream[File] {
	all := make([]File, len(paths))
	for i, p := range paths {
		all[i] = File{Name: p, path: p, Open: func(context.Context) (io.ReadCloser, error) { return os.Open(p) }}
	}
	return stream.Of(all...)
}

// FromReader returns a stream of one file that can be read once, such as standard input.
// No state within it can be resumed. It does not close r.
func FromReader(name string, r io.Reader) stream.Stream[File] {
	return stream.Of(File{Name: name, Live: true, Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(r), nil }})
}

// A Content is a file in memory.
type Content struct {
	// Archive is the name of the archive that contains the file, or "".
	Archive string
	Name    string
	Bytes   []byte
}

// File returns the content as a file.
func (c Content) File() File {
	return File{Name: c.Name, Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(c.Bytes)), nil }}
}

// ErrTooLarge is the error of content that exceeds its bound.
var ErrTooLarge = errors.New("it is larger than it may be; raise the bound (--max-item) if it is right")

const defaultLargest = 256 << 20

// Read reads whole files, of at most most bytes; 0 means 256 MiB.
func Read(s stream.Stream[File], most int64) stream.Stream[Content] {
	if most <= 0 {
		most = defaultLargest
	}
	return stream.MapAs(s, "read", func(ctx context.Context, f File) (Content, error) {
		r, err := f.open(ctx)
		if err != nil {
			return Content{}, err
		}
		b, err := readAll(r, most)
		if err := errors.Join(err, r.Close()); err != nil {
			return Content{}, fmt.Errorf("%s: %w", f.Name, err)
		}
		return Content{Name: f.Name, Bytes: b}, nil
	})
}

func readAll(r io.Reader, most int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(b)) > most {
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLarge, most)
	}
	return b, err
}

// open opens a file whose reads fail after the context has ended.
func (f File) open(ctx context.Context) (io.ReadCloser, error) {
	if f.Open == nil {
		return nil, fmt.Errorf("%s: Open is nil", f.Name)
	}
	r, err := f.Open(ctx)
	if err != nil {
		return nil, err
	}
	return &ending{ctx, r}, nil
}

// ending is a reader that checks its context before each read.
type ending struct {
	ctx context.Context
	io.ReadCloser
}

func (e *ending) Read(b []byte) (int, error) {
	if e.ctx.Err() != nil {
		return 0, context.Cause(e.ctx)
	}
	return e.ReadCloser.Read(b)
}

// kind returns how the content of a file can be read again.
func (f File) kind() stream.Kind {
	if f.Live {
		return stream.Live
	}
	return stream.Replays
}
