//go:build linux || darwin || freebsd

package medium

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// The position of the file is moved, which nothing here reads from.

func dataAt(f *os.File, off int64) int64 {
	at, err := f.Seek(off, unix.SEEK_DATA)
	switch {
	case err == nil:
		return at
	case errors.Is(err, unix.ENXIO):
		return nowhere
	}
	return off
}

func holeAt(f *os.File, off int64) int64 {
	at, err := f.Seek(off, unix.SEEK_HOLE)
	if err != nil {
		return nowhere
	}
	return at
}
