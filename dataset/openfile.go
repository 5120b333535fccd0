package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/larder-data/larder/internal/fs/regularfile"
	"github.com/larder-data/larder/key"
)

// Open opens the file to return the bytes of Bytes as a stream.
func (f *FileOrigin) Open(ctx context.Context) (io.ReadCloser, int64, error) {
	file, stat, err := openRegular(f.path)
	if err != nil {
		return nil, 0, err
	}
	return &fileReader{ctx: ctx, origin: f, file: file, stat: stat, opened: time.Now()}, stat.Size, nil
}

// openRegular opens a regular file and refuses anything on which a read could block.
func openRegular(path string) (*regularfile.File, key.FileStat, error) {
	file, err := regularfile.Open(path)
	if err != nil {
		return nil, key.FileStat{}, err
	}
	stat, err := stateOf(file)
	if err != nil {
		return nil, stat, errors.Join(err, file.Close())
	}
	return file, stat, nil
}

// stateOf returns the state of a file, which must be regular.
func stateOf(file *regularfile.File) (key.FileStat, error) {
	s, err := file.State()
	if err == nil && !s.Regular {
		err = fmt.Errorf("%s: not a regular file", file.Name())
	}
	return key.FileStat{Dev: s.Dev, Ino: s.Ino, Size: s.Size, Mtime: s.Mtime, Ctime: s.Ctime}, err
}

// fileReader reads a file, and checks the bytes against the item's digest before it
// reports the end.
type fileReader struct {
	ctx    context.Context
	origin *FileOrigin
	file   *regularfile.File
	stat   key.FileStat // at opening
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

// check returns an error if the bytes read do not match the digest of the item.
func (r *fileReader) check() error {
	stat, err := stateOf(r.file)
	if err != nil {
		return err
	}
	if r.n != r.stat.Size || stat != r.stat {
		return fmt.Errorf("%s: %w", r.origin, ErrChanged)
	}
	return r.origin.take(r.stat, r.stat.Settled(r.opened), r.sum.Digest)
}
