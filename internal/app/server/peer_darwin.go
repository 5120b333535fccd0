package server

import (
	"net"

	"golang.org/x/sys/unix"
)

// peer returns the user and process at the other end of a connection.
func peer(c *net.UnixConn) (uid, pid int, err error) {
	var cred *unix.Xucred
	err = withFd(c, func(fd int) (err error) {
		cred, err = unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	return int(cred.Uid), 0, nil
}
