// Package entries provides iteration over directories with very many files.
package entries

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// Each calls f for every entry of a directory, in the order of the system, without
// storing them all.
func Each(dir string, f func(fs.DirEntry)) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	for {
		entries, err := d.ReadDir(1024)
		for _, e := range entries {
			f(e)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
