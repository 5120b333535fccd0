//go:build !linux

package output

import (
	"errors"
	"io"
	"os"
)

const canLock = false

// takeLock opens a path; it cannot detect other processes here.
func takeLock(path string) (io.Closer, error) { return os.Open(path) }

func exchange(_, _ string) error { return errors.ErrUnsupported }

// moveInto is unsupported here.
func moveInto(string, *os.File, string) error { return errors.ErrUnsupported }
