//go:build linux && !amd64

package filestate

import "golang.org/x/sys/unix"

// statAt returns the state of a name in a directory and follows links.
func statAt(fd int, name string, s *unix.Stat_t) error { return unix.Fstatat(fd, name, s, 0) }
