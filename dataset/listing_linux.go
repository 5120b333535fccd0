package dataset

import (
	"io/fs"
	"syscall"
)

// linked reports whether a file has several names, because adding or removing a name
// also changes its status.
func linked(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink > 1
}
