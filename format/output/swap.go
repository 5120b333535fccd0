package output

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// swap puts the folder at dir in the place of the one at path, at one instant
// where the system can, and removes the old one. check is asked first about the
// old folder, which cannot be reached at path any more: if it finds an error,
// the old one comes back.
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

// swapAside moves the old folder aside, puts the new one in its place and
// removes the old one. Between the two moves there is no folder; if the second
// fails the old one comes back.
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

// recoverAside brings back a folder that was moved aside by a writer that was
// killed before it could put the new one in its place.
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
