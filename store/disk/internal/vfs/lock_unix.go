//go:build unix

package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks a file exclusively for this open file, or returns ErrLocked. The kernel
// releases the lock when the file is closed or the process dies.
func tryLock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrLocked
		case errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.ENOSYS):
			return errors.ErrUnsupported
		default:
			return err
		}
	}
}
