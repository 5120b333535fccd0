package content

import (
	"context"
	"errors"
	"io"

	"github.com/larder-data/larder/internal/text/compression"
	"github.com/larder-data/larder/stream"
)

// Unpack reads what files unpack to that end with .gz, .zst, .zstd, .xz or .bz2, and whose names
// lose that, or that begin as what is compressed in these ways does. Other files are as they are. A file that was cut off or damaged is an
// error, and so is one that asks for more than 128 MiB to be unpacked in.
func Unpack(s stream.Stream[File]) stream.Stream[File] {
	return stream.MapAs(s, "unpack", func(_ context.Context, f File) (File, error) {
		to := File{Name: compression.Unpacked(f.Name), Live: f.Live, Open: f.unpacked}
		if to.Name == f.Name {
			to.path = f.path
		}
		return to, nil
	})
}

// unpacked opens what a file unpacks to.
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

// both closes what is read and what that is read from.
type both struct {
	io.ReadCloser
	under io.Closer
}

func (b *both) Close() error { return errors.Join(b.ReadCloser.Close(), b.under.Close()) }
