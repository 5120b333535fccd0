//go:build linux && !amd64

package filestate

import "golang.org/x/sys/unix"

// statAt tells of what has a name in a folder, links followed.
func statAt(fd int, name string, s *unix.Stat_t) error { return unix.Fstatat(fd, name, s, 0) }
