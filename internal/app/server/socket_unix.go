//go:build unix

package server

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// withFd calls f with the descriptor of a connection.
func withFd(c syscall.Conn, f func(fd int) error) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	inner := error(nil)
	if err := raw.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return err
	}
	return inner
}

// shutdown ends a connection: who reads or writes it returns.
func shutdown(file *os.File) {
	_ = withFd(file, func(fd int) error { return unix.Shutdown(fd, unix.SHUT_RDWR) }) // else it has ended
}

// sendRights writes what it can of b, and with it passes a file on.
func sendRights(to *os.File, b []byte, file *os.File) (n int, err error) {
	err = withFd(file, func(passed int) error {
		return withFd(to, func(fd int) (err error) {
			for {
				n, err = unix.SendmsgN(fd, b, unix.UnixRights(passed), nil, 0)
				if !errors.Is(err, unix.EINTR) {
					return err
				}
			}
		})
	})
	return n, err
}

// lock takes the lock of a file, or reports that another process has it.
func lock(file *os.File) (bool, error) {
	err := withFd(file, func(fd int) error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) })
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// ownFolder checks that a folder is of our user, and that nobody else can enter it.
func ownFolder(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid() && info.Mode().Perm()&0o077 == 0
}
