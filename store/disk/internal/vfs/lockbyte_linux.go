package vfs

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// lockBytes locks bytes of a file exclusively for this open file, or returns ErrLocked.
// Open file description locks, unlike older ones, stay when another descriptor of the file
// is closed; the kernel releases them when the process dies.
func lockBytes(f *os.File, at, n int64) error { return setLock(f, at, n, unix.F_WRLCK) }

func shareByte(f *os.File, at int64) error { return setLock(f, at, 1, unix.F_RDLCK) }

// unlockBytes unlocks n bytes; 0 means all from there on.
func unlockBytes(f *os.File, at, n int64) error { return setLock(f, at, n, unix.F_UNLCK) }

func setLock(f *os.File, at, n int64, kind int16) error {
	lock := unix.Flock_t{Type: kind, Whence: io.SeekStart, Start: at, Len: n}
	err := fcntl(f, unix.F_OFD_SETLK, &lock)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return ErrLocked
	}
	return err
}

func othersHave(f *os.File, at int64) (bool, error) {
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart, Start: at, Len: 1}
	err := fcntl(f, unix.F_OFD_GETLK, &lock)
	return err == nil && lock.Type != unix.F_UNLCK, err
}

func fcntl(f *os.File, command int, lock *unix.Flock_t) error {
	conn, err := f.SyscallConn() // unlike Fd, safe during Close
	if err != nil {
		return err
	}
	cerr := conn.Control(func(fd uintptr) {
		for {
			if err = unix.FcntlFlock(fd, command, lock); !errors.Is(err, unix.EINTR) {
				return
			}
		}
	})
	return errors.Join(cerr, err)
}
