package key

import (
	"io/fs"
	"os"
	"syscall"
)

// openFlags keep the opening of a pipe from waiting for its other end.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK

// StatOf returns the state of the file that info describes.
func StatOf(info fs.FileInfo) FileStat {
	s := FileStat{Size: info.Size(), Mtime: info.ModTime().UnixNano()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.Dev, s.Ino, s.Ctime = uint64(sys.Dev), sys.Ino, sys.Ctim.Nano()
	}
	return s
}
