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

// shutdown ends a connection: blocked reads and writes return.
func shutdown(file *os.File) {
	_ = withFd(file, func(fd int) error { return unix.Shutdown(fd, unix.SHUT_RDWR) }) // otherwise it has ended
}

// sendRights writes as much of b as possible, with a file descriptor attached.
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

// lock locks a file, or reports that another process has the lock.
func lock(file *os.File) (bool, error) {
	err := withFd(file, func(fd int) error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) })
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// ownDir checks that a directory belongs to the user, and that no other user can
// enter it.
func ownDir(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid() && info.Mode().Perm()&0o077 == 0
}
