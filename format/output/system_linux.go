package output

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// canLock says that Lock tells whether another process uses a path.
const canLock = true

// Lock takes the lock of a file or folder, or fails at once if another process
// has it. It ends with its owner.
func Lock(path string) (io.Closer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Umask returns the process's mask of permissions.
func Umask() os.FileMode { return os.FileMode(mask) }

// mask is read once: reading it means setting it for a moment.
var mask = func() int {
	m := unix.Umask(0o077)
	unix.Umask(m)
	return m
}()

// clone makes dst share the bytes of src, where the file system can.
func clone(dst, src *os.File) error {
	return unix.IoctlFileClone(int(dst.Fd()), int(src.Fd()))
}

// Swap puts the folder at dir in the place of the one at path, at one instant,
// and removes the old one.
func Swap(dir, path string) error {
	err := unix.Renameat2(unix.AT_FDCWD, dir, unix.AT_FDCWD, path, unix.RENAME_EXCHANGE)
	if err != nil {
		return swapAside(dir, path) // a file system that cannot exchange
	}
	return os.RemoveAll(dir)
}
