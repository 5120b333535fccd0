package webdataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/rows"
	"github.com/larder-data/larder/key"
)

// A shard is an archive of which it is known where the samples lie. It may be used by many
// goroutines.
type shard struct {
	path    string
	stat    key.FileStat
	settled bool     // another content would have another state
	text    *os.File // what it unpacks to; nil of one that is read as it is
	index   index
}

// now is the time by which it is known whether a file was left alone for long enough.
var now = time.Now

// openShard finds out where the samples of an archive lie. l keeps that, of archives whose
// states tell whether they are the same.
func openShard(ctx context.Context, path string, incomplete bool, l *larder.Larder) (*shard, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	s := &shard{path: path, stat: key.StatOf(info)}
	s.settled = key.ShowsChanges(path, s.stat, now())
	if err := s.find(ctx, f, incomplete, l); err != nil {
		return nil, err
	}
	return s, s.unchanged(f)
}

func openRegular(path string) (*os.File, error) {
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no file %s", path)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file: copy what comes from it into one", path)
	}
	return os.Open(path)
}

// find makes the index, or has it found.
func (s *shard) find(ctx context.Context, f *os.File, incomplete bool, l *larder.Larder) (err error) {
	if rows.PackingOf(s.path) != rows.Plain {
		if s.text, err = rows.Unpack(ctx, s.path, f); err != nil {
			return err
		}
		runtime.AddCleanup(s, func(f *os.File) { _ = f.Close() }, s.text)
		size, err := s.text.Seek(0, io.SeekEnd)
		if err != nil {
			return err
		}
		s.index, err = scan(ctx, s.path, s.text, size, incomplete)
		return err
	}
	make := func(ctx context.Context) (*array.Array, error) {
		x, err := scan(ctx, s.path, f, s.stat.Size, incomplete)
		if err != nil {
			return nil, err
		}
		return array.New(array.Uint8, []int{len(x)}, x)
	}
	if l != nil && s.settled && !larder.IsDry(ctx) {
		if x, err := s.kept(ctx, l, incomplete, make); err == nil && x.check() == nil {
			s.index = x
			return nil
		}
	}
	a, err := make(ctx)
	if err != nil {
		return err
	}
	s.index = a.Data
	return nil
}

// kept has the index kept, under the state of the archive and the build of the program, which
// is how it was made.
func (s *shard) kept(ctx context.Context, l *larder.Larder, incomplete bool, make func(context.Context) (*array.Array, error)) (index, error) {
	build, err := key.Build()
	if err != nil {
		return nil, err
	}
	a, err := key.NewAction("index of an archive", build, s.stat.Dev, s.stat.Ino, s.stat.Size, s.stat.Mtime, s.stat.Ctime, incomplete)
	if err != nil {
		return nil, err
	}
	made, err := larder.Do(ctx, l, a, make)
	if err != nil {
		return nil, err
	}
	return made.Data, nil
}

// unchanged holds a file to what it was when it was gone through: places of another content
// mean nothing.
func (s *shard) unchanged(f *os.File) error {
	info, err := f.Stat()
	if err == nil && key.StatOf(info) != s.stat {
		err = fmt.Errorf("%s: %w", s.path, dataset.ErrChanged)
	}
	return err
}

// read fills b with what lies at a place of the archive.
func (s *shard) read(b []byte, at int64) (err error) {
	f, err := openRegular(s.path)
	if err != nil {
		return err
	}
	defer f.Close()
	var from io.ReaderAt = f
	if s.text != nil {
		from = s.text
	}
	_, err = from.ReadAt(b, at)
	if cerr := s.unchanged(f); cerr != nil {
		return cerr // also of what could not be read for that
	}
	if err != nil {
		return fmt.Errorf("%s: byte %d: %w", s.path, at, err)
	}
	return nil
}
