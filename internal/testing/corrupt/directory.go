package corrupt

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A Directory is a snapshot of a directory.
type Directory struct {
	dir   string
	files map[string]file // by path from dir
}

// A file is a file or a directory.
type file struct {
	mode    os.FileMode
	content []byte
}

// Remember takes a snapshot of a directory.
func Remember(tb testing.TB, dir string) Directory {
	tb.Helper()
	f := Directory{dir, map[string]file{}}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, one := path[len(dir)+1:], file{mode: info.Mode()}
		if one.mode.IsRegular() {
			one.content, err = os.ReadFile(path)
		}
		f.files[name] = one
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// Restore restores the snapshot. It leaves unchanged files alone, because writing all
// files for each of many rounds would cost more than the rounds.
func (f Directory) Restore(tb testing.TB) {
	tb.Helper()
	var err error
	for name, now := range Remember(tb, f.dir).files {
		if was, ok := f.files[name]; !ok || was.mode != now.mode || !bytes.Equal(was.content, now.content) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(f.dir, name)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.files)) { // a directory before its content
		path, was := filepath.Join(f.dir, name), f.files[name]
		if _, missing := os.Lstat(path); missing == nil {
			continue
		}
		if was.mode.IsDir() {
			err = errors.Join(err, os.Mkdir(path, 0o777))
		} else {
			err = errors.Join(err, os.WriteFile(path, was.content, 0o666))
		}
		err = errors.Join(err, os.Chmod(path, was.mode))
	}
	if err != nil {
		tb.Fatal(err)
	}
}
