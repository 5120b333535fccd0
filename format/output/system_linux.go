package output

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// canLock says that locks show whether another process uses a path.
const canLock = true

// takeLock locks a file or directory, or fails immediately if another process has the
// lock. The lock ends with its owner.
func takeLock(path string) (io.Closer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// exchange exchanges two directories. It is unsupported if the file system cannot.
func exchange(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	switch {
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS):
		return errors.ErrUnsupported
	case err != nil:
		return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
	}
	return nil
}

// moveInto moves the file at a path to a name in an open directory, whatever the
// directory's current path, and replaces a file of that name. It is unsupported if the
// system cannot.
func moveInto(from string, dir *os.File, name string) error {
	err := unix.Renameat(unix.AT_FDCWD, from, int(dir.Fd()), name)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: dir.Name() + "/" + name, Err: err}
	}
	return nil
}
