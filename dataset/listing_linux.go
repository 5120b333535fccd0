package dataset

import (
	"io/fs"
	"syscall"
)

// linked reports whether a file has several names: a name more or less is a
// change of its status, too.
func linked(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink > 1
}
