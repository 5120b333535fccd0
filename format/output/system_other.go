//go:build !linux

package output

import (
	"errors"
	"io"
	"os"
)

const canLock = false

// Lock cannot tell whether another process uses a path.
func Lock(path string) (io.Closer, error) { return os.Open(path) }

// Umask is the usual mask of permissions.
func Umask() os.FileMode { return 0o022 }

func clone(_, _ *os.File) error { return errors.ErrUnsupported }

func exchange(_, _ string) error { return errors.ErrUnsupported }

// MoveInto is unsupported here.
func MoveInto(string, *os.File, string) error { return errors.ErrUnsupported }
