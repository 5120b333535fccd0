package output

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// swap exchanges the directory at dir with the one at path, atomically if the system
// can, and removes the old one. check is called before with the new path of the old
// directory. If it returns an error, the old directory is moved back.
func swap(dir, path string, check func(old string) error) error {
	switch err := exchange(dir, path); {
	case errors.Is(err, errors.ErrUnsupported):
		return swapAside(dir, path, check)
	case err != nil:
		return err
	}
	if err := check(dir); err != nil {
		return errors.Join(err, exchange(dir, path))
	}
	return os.RemoveAll(dir)
}

// swapAside moves the old directory aside, moves the new one to its path and removes the
// old one. Between the two moves there is no directory; if the second fails, the old one
// is moved back.
func swapAside(dir, path string, check func(old string) error) error {
	aside := dir + asideMark
	if err := os.Rename(path, aside); err != nil {
		return err
	}
	err := check(aside)
	if err == nil {
		err = os.Rename(dir, path)
	}
	if err != nil {
		return errors.Join(err, os.Rename(aside, path))
	}
	return os.RemoveAll(aside)
}

// recoverAside moves back a directory that a killed writer moved aside before it could
// move the new one to its path.
func recoverAside(path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	stagings, err := stagings(filepath.Dir(path), func(name string) bool { return name == filepath.Base(path) })
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, dir := range stagings {
		if strings.HasSuffix(dir, asideMark) {
			return os.Rename(dir, path)
		}
	}
	return nil
}
