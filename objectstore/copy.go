package objectstore

import (
	"context"
	"errors"
	"io"
)

// errAgain is the error of a copy that broke off.
var errAgain = errors.New("the copy has to start again")

// Copy writes the whole file to to, in one request. So all bytes are of one version, even
// if the server gives two versions the same [Version]. After a failure it starts again, so
// to may be written several times from its beginning.
func (f *File) Copy(ctx context.Context, to io.WriterAt) error {
	var last error
	for n := 0; ; n++ {
		r, err := f.Reader(ctx, 0, f.Size)
		if err != nil {
			return err
		}
		r.single = true
		_, err = io.Copy(io.NewOffsetWriter(to, 0), r)
		last = r.broke
		_ = r.Close()
		if !errors.Is(err, errAgain) {
			return err
		}
		if err := wait(ctx, n, last); err != nil {
			return named(f.name, err)
		}
	}
}
