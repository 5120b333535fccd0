package output

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// canLock says that Lock tells whether another process uses a path.
const canLock = true

// takeLock takes the lock of a file or folder, or fails at once if another process
// has it. It ends with its owner.
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

// exchange lets two folders change places. It is unsupported where the file
// system cannot.
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

// moveInto gives the file at a path a name in a folder that is open, whatever that is
// called by now, in place of what has the name there. It is unsupported where the
// system cannot.
func moveInto(from string, folder *os.File, name string) error {
	err := unix.Renameat(unix.AT_FDCWD, from, int(folder.Fd()), name)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: folder.Name() + "/" + name, Err: err}
	}
	return nil
}
