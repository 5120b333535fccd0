package content

import (
	"context"
	"errors"
	"io"

	"github.com/larder-data/larder/internal/text/compression"
	"github.com/larder-data/larder/stream"
)

// Unpack decompresses files that end with .gz, .zst, .zstd, .xz or .bz2, and removes
// that extension, as well as files that begin like such compressed data. Other files
// pass unchanged. A truncated or damaged file is an error, as is one that needs more
// than 128 MiB of memory.
func Unpack(s stream.Stream[File]) stream.Stream[File] {
	return stream.MapAs(s, "unpack", func(_ context.Context, f File) (File, error) {
		to := File{Name: compression.Unpacked(f.Name), Live: f.Live, Open: f.unpacked}
		if to.Name == f.Name {
			to.path = f.path
		}
		return to, nil
	})
}

// unpacked opens the decompressed content of a file.
func (f File) unpacked(ctx context.Context) (io.ReadCloser, error) {
	r, err := f.open(ctx)
	if err != nil {
		return nil, err
	}
	text, err := compression.Reader(f.Name, r)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return &both{text, r}, nil
}

// both closes a reader and the reader below it.
type both struct {
	io.ReadCloser
	under io.Closer
}

func (b *both) Close() error { return errors.Join(b.ReadCloser.Close(), b.under.Close()) }
