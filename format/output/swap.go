package output

import (
	"errors"
	"os"
)

// swapAside moves the old folder aside, puts the new one in its place and
// removes the old one. Between the two moves there is no folder; if the second
// fails the old one comes back.
func swapAside(dir, path string) error {
	aside := dir + AsideMark
	if err := os.Rename(path, aside); err != nil {
		return err
	}
	if err := os.Rename(dir, path); err != nil {
		return errors.Join(err, os.Rename(aside, path))
	}
	return os.RemoveAll(aside)
}
