// Package content is about streams of files and of what is in them: lines, rows, documents,
// members of archives. It opens a file when its turn comes, reads it once from beginning to
// end, and bounds what it takes into memory, whatever a file claims. A state that is within a
// file is resumed by reading this file again from its beginning, as far as it was read.
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

// A File is something that is read from beginning to end.
type File struct {
	// Name is what it is called: its extensions say how it is packed, and [Save] writes it
	// there.
	Name string
	// Open begins to read it.
	Open func(ctx context.Context) (io.ReadCloser, error)
	// Live says that it can be read once only.
	Live bool

	path string // of a file on disk
}

// Files is a stream of files on disk, by their paths.
func Files(paths ...string) stream.Stream[File] {
	all := make([]File, len(paths))
	for i, p := range paths {
		all[i] = File{Name: p, path: p, Open: func(context.Context) (io.ReadCloser, error) { return os.Open(p) }}
	}
	return stream.Of(all...)
}

// FromReader is a stream of one file, such as standard input, that cannot be read again: no
// state within it can be resumed. It does not close r.
func FromReader(name string, r io.Reader) stream.Stream[File] {
	return stream.Of(File{Name: name, Live: true, Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(r), nil }})
}

// A Content is a file in memory.
type Content struct {
	// Archive is the name of the archive that it is a member of, "" if it is of none.
	Archive string
	Name    string
	Bytes   []byte
}

// File is the content as a file.
func (c Content) File() File {
	return File{Name: c.Name, Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(c.Bytes)), nil }}
}

// ErrTooLarge is the error of what is larger than it may be.
var ErrTooLarge = errors.New("it is larger than it may be; raise the bound (--max-item) if it is right")

const defaultLargest = 256 << 20

// Read reads whole files, of most bytes at most; 0 stands for 256 MiB.
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

// open opens a file, whose reads end with a context.
func (f File) open(ctx context.Context) (io.ReadCloser, error) {
	if f.Open == nil {
		return nil, fmt.Errorf("%s: nothing says how it is opened", f.Name)
	}
	r, err := f.Open(ctx)
	if err != nil {
		return nil, err
	}
	return &ending{ctx, r}, nil
}

// ending is a reader that ends with its context, between two reads.
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

// kind says how what is in a file can be read again.
func (f File) kind() stream.Kind {
	if f.Live {
		return stream.Live
	}
	return stream.Replays
}
