package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Write atomically makes path hold data.
func (f *Directory) Write(path string, data []byte) error {
	return f.WriteBy(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// WriteBy atomically makes path hold what fill writes, and reports by how much the
// directory grew.
func (f *Directory) WriteBy(path string, fill func(io.Writer) error) error {
	if err := f.Mark(); err != nil {
		return err
	}
	return f.fill(path, fill)
}

// fill is WriteBy for the mark itself.
func (f *Directory) fill(path string, fill func(io.Writer) error) error {
	temp, err := f.writeTemp(0o666, fill)
	if err != nil {
		return err
	}
	grown := f.Size(temp) - f.Size(path)
	if err := f.MoveIn(temp, path); err != nil {
		return err
	}
	f.Grown(grown)
	return nil
}

// WriteTemp creates a file of what fill writes, for MoveIn.
func (f *Directory) WriteTemp(mode fs.FileMode, fill func(io.Writer) error) (temp string, err error) {
	if err := f.Mark(); err != nil {
		return "", err
	}
	return f.writeTemp(mode, fill)
}

func (f *Directory) writeTemp(mode fs.FileMode, fill func(io.Writer) error) (temp string, err error) {
	file, err := f.createTemp(mode)
	if err != nil {
		return "", StoreError(err)
	}
	err = fill(file)
	if err == nil && f.Sync {
		err = file.Sync()
	}
	if cerr := file.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		f.Drop(file.Name())
		return "", StoreError(err)
	}
	return file.Name(), nil
}

// MoveIn moves a file of WriteTemp to its path, or removes it.
func (f *Directory) MoveIn(temp, path string) error {
	err := f.Move(temp, path)
	if err == nil && f.Sync {
		err = f.SyncNames(filepath.Dir(path))
	}
	if err != nil {
		f.Drop(temp)
	}
	return StoreError(err)
}

// Drop removes a temporary file. If that fails, RemoveDead removes it later.
func (f *Directory) Drop(temp string) { _ = f.Remove(temp) }

// Move moves a finished file to its path, and first moves away obstacles there.
func (f *Directory) Move(from, to string) error {
	err := f.rename(from, to)
	if err == nil || isFull(err) {
		return err
	}
	if err := f.makeDir(filepath.Dir(to)); err != nil {
		return err
	}
	if info, lerr := f.Lstat(to); lerr == nil && info.IsDir() {
		f.obstacle(to)
	}
	return f.rename(from, to)
}

// SyncNames makes new names in a directory survive a power loss, on systems that need an
// explicit sync.
func (f *Directory) SyncNames(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := f.OpenFile(dir, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	err = d.Sync()
	return errors.Join(err, d.Close())
}
