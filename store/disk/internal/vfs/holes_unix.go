//go:build linux || darwin || freebsd

package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Seeking moves the position of the file, from which nothing here reads.

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
