package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/larder-data/larder/key"
)

// Open opens the file, to hand out what Bytes does in parts.
func (f *FileOrigin) Open(ctx context.Context) (io.ReadCloser, int64, error) {
	file, info, err := openRegular(f.path)
	if err != nil {
		return nil, 0, err
	}
	return &fileReader{ctx: ctx, origin: f, file: file, stat: key.StatOf(info), opened: time.Now()}, info.Size(), nil
}

// openRegular opens a file that is one, and nothing that a read may wait for.
func openRegular(path string) (*os.File, os.FileInfo, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a regular file", path)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

// fileReader reads a file, and holds what was read to its name before it says that
// this was all.
type fileReader struct {
	ctx    context.Context
	origin *FileOrigin
	file   *os.File
	stat   key.FileStat // when it was opened
	opened time.Time
	n      int64
	sum    key.Digester
}

func (r *fileReader) Read(p []byte) (n int, err error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	n, err = r.file.Read(p)
	r.n += int64(n)
	_, _ = r.sum.Write(p[:n])
	if errors.Is(err, io.EOF) {
		if wrong := r.check(); wrong != nil {
			err = wrong
		}
	}
	return n, err
}

func (r *fileReader) Close() error { return r.file.Close() }

// check returns an error if what was read is not what the item's name stands for.
func (r *fileReader) check() error {
	info, err := r.file.Stat()
	if err != nil {
		return err
	}
	if r.n != r.stat.Size || key.StatOf(info) != r.stat {
		return fmt.Errorf("%s: %w", r.origin.path, ErrChanged)
	}
	return r.origin.take(r.stat, r.stat.Settled(r.opened), r.sum.Digest)
}
