package output

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/larder-data/larder/format/internal/taken"
	"github.com/larder-data/larder/internal/fs/cleanup"
	"github.com/larder-data/larder/internal/fs/regularfile"
)

// Overwrite says what a sink does with an existing file or directory.
type Overwrite string

// The treatments of existing outputs; all sinks support the first two.
const (
	Forbid         Overwrite = "forbid"          // fail
	Replace        Overwrite = "replace"         // replace atomically
	IfEmpty        Overwrite = "if-empty"        // fail unless it is empty
	NewFiles       Overwrite = "new-files"       // add files; fail if one exists
	OverwriteFiles Overwrite = "overwrite-files" // add and replace files
)

// WriteFile calls write to write a file that appears at path when it is complete, or not
// at all. An existing file with the same content is not changed. The result is the
// number of bytes written, 0 if none were needed.
func WriteFile(ctx context.Context, path string, how Overwrite, write func(io.Writer) error) (n int64, err error) {
	return writeFile(ctx, path, how, Stage, write)
}

func writeFile(ctx context.Context, path string, how Overwrite, stage func(path string) (*Staged, error), write func(io.Writer) error) (n int64, err error) {
	if _, err := os.Lstat(path); err == nil && how != Replace {
		return 0, already(path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return 0, err
	}
	f, err := stage(path)
	if err != nil {
		return 0, err
	}
	defer f.Discard()
	b := bufio.NewWriterSize(f, 1<<16)
	err = write(b)
	if err == nil {
		err = b.Flush()
	}
	if err == nil {
		n, err = f.Seek(0, io.SeekCurrent)
	}
	if err != nil {
		return 0, err
	}
	if how == Replace && same(ctx, f.File, path) {
		return 0, nil
	}
	return n, f.Publish(how == Replace)
}

// A Staged is a pending file next to its final path.
type Staged struct {
	*os.File
	path string
	lock io.Closer

	remain *cleanup.Remain // once it exists
}

// Stage creates a pending file for a path in an existing directory, and removes what
// killed writers of that path left.
func Stage(path string) (*Staged, error) {
	if err := tidy(path); err != nil {
		return nil, err
	}
	return stage(path)
}

func stage(path string) (*Staged, error) {
	f, err := os.CreateTemp(filepath.Dir(path), stagingPattern(path))
	if err != nil {
		return nil, err
	}
	lock, err := takeLock(f.Name())
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	s := &Staged{File: f, path: path, lock: lock, remain: cleanup.Add(func() error { return removed(os.Remove(f.Name())) })}
	if err := f.Chmod(0o666 &^ regularfile.Mask()); err != nil {
		s.Discard()
		return nil, err
	}
	return s, nil
}

// Publish closes the file and moves it to its path: see [publish].
func (s *Staged) Publish(replace bool) error {
	err := s.Close()
	s.remain.Done()
	if err == nil {
		err = publish(s.Name(), s.path, replace)
	}
	s.Discard()
	return err
}

// Discard removes the file unless it was published.
func (s *Staged) Discard() {
	s.Close()
	os.Remove(s.Name())
	s.lock.Close()
	s.remain.Done()
}

// removed ignores the error of removing a file that no longer exists.
func removed(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// already is the error of a path that exists.
func already(path string) error {
	return taken.Error("%s already exists; remove it, or set overwrite: replace", path)
}

// same reports whether the file at a path has the content of f. It reads only as far as
// necessary.
func same(ctx context.Context, f *os.File, path string) bool {
	was, err := os.Stat(path)
	now, nerr := f.Stat()
	if err != nil || nerr != nil || !was.Mode().IsRegular() || was.Size() != now.Size() {
		return false
	}
	other, err := os.Open(path)
	if err != nil {
		return false
	}
	defer other.Close()
	a, b := make([]byte, 1<<18), make([]byte, 1<<18)
	for at := int64(0); at < now.Size(); at += int64(len(a)) {
		n := min(int64(len(a)), now.Size()-at)
		_, erra := f.ReadAt(a[:n], at)
		_, errb := other.ReadAt(b[:n], at)
		if erra != nil || errb != nil || ctx.Err() != nil || !bytes.Equal(a[:n], b[:n]) {
			return false
		}
	}
	return true
}

// publish atomically gives a complete file its name. Without replace, an existing file
// is an error that wraps [fs.ErrExist] and is not changed.
func publish(from, path string, replace bool) error {
	if replace {
		return os.Rename(from, path)
	}
	err := os.Link(from, path)
	switch {
	case err == nil:
		return os.Remove(from)
	case errors.Is(err, fs.ErrExist):
		return already(path)
	}
	// A file system without links needs two steps.
	if _, err := os.Lstat(path); err == nil {
		return already(path)
	}
	return os.Rename(from, path)
}
