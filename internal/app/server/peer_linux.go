package server

import (
	"net"

	"golang.org/x/sys/unix"
)

// peer returns the user and process at the other end of a connection.
func peer(c *net.UnixConn) (uid, pid int, err error) {
	var cred *unix.Ucred
	err = withFd(c, func(fd int) (err error) {
		cred, err = unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	return int(cred.Uid), int(cred.Pid), nil
}
