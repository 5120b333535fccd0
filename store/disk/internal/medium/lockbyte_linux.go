package medium

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// lockByte locks one byte of a file for this open file alone, or returns
// ErrLocked. Open file description locks, unlike older ones, do not vanish
// when any other descriptor of the file is closed; the kernel drops them when
// the process dies.
func lockByte(f *os.File, at int64) error { return setLock(f, at, 1, unix.F_WRLCK) }

// unlockBytes unlocks so many bytes, 0 for all from there on.
func unlockBytes(f *os.File, at, n int64) error { return setLock(f, at, n, unix.F_UNLCK) }

func setLock(f *os.File, at, n int64, kind int16) error {
	conn, err := f.SyscallConn() // unlike Fd, safe beside Close
	if err != nil {
		return err
	}
	lock := unix.Flock_t{Type: kind, Whence: io.SeekStart, Start: at, Len: n}
	cerr := conn.Control(func(fd uintptr) {
		for {
			if err = unix.FcntlFlock(fd, unix.F_OFD_SETLK, &lock); !errors.Is(err, unix.EINTR) {
				return
			}
		}
	})
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return ErrLocked
	}
	return errors.Join(cerr, err)
}
