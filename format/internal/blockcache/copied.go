package blockcache

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/larder-data/larder/objectstore"
)

// maxCopied is the largest size in bytes of a file that is copied to the local disk.
var maxCopied int64 = 1 << 30

// tooLarge refuses a file that is too large to copy. Comparing later reads with earlier
// ones would also work, but waiting two seconds has the same effect.
func tooLarge(f *objectstore.File) error {
	if f.Size <= maxCopied {
		return nil
	}
	return &objectstore.Error{Name: f.Name(), Err: fmt.Errorf("a later change of the file may go unnoticed: Last-Modified is less than two seconds old or in the future, or the server sends no Date; run again in two seconds, or let the server send a strong ETag (files up to %d bytes are copied; this file has %d)", maxCopied, f.Size)}
}

// copied is a copy of a file, in an unnamed temporary file. It is made once.
type copied struct {
	lock chan struct{} // a lock, held by the copying goroutine
	file *os.File      // nil before
}

func newCopied() *copied { return &copied{lock: make(chan struct{}, 1)} }

// readAt fills b with the bytes at an offset.
func (c *copied) readAt(ctx context.Context, f *objectstore.File, b []byte, at int64) error {
	from, err := c.get(ctx, f)
	if err != nil {
		return err
	}
	if _, err := from.ReadAt(b, at); err != nil {
		return fmt.Errorf("%s: copy to a temporary file: %w", f.Name(), err)
	}
	return nil
}

// get returns the copy, and makes it if necessary. After a failure, the next caller
// tries again.
func (c *copied) get(ctx context.Context, f *objectstore.File) (*os.File, error) {
	select {
	case c.lock <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-c.lock }()
	if c.file != nil {
		return c.file, nil
	}
	to, err := os.CreateTemp("", "larder-place-*")
	if err != nil {
		return nil, fmt.Errorf("%s: copy: %w; TMPDIR sets the directory of temporary files", f.Name(), err)
	}
	_ = os.Remove(to.Name()) // on systems that cannot remove open files, it stays
	if err := f.Copy(ctx, to); err != nil {
		return nil, errors.Join(err, to.Close())
	}
	c.file = to
	runtime.AddCleanup(c, func(f *os.File) { _ = f.Close() }, to)
	return to, nil
}
