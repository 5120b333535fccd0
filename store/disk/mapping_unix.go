//go:build unix

package disk

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// A fileID tells files apart.
type fileID struct {
	device, inode uint64
	size          int64
	regular       bool
}

func identify(path string) (fileID, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return fileID{}, &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	return idOf(&st), nil
}

func identifyOpen(f *os.File) (fileID, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return fileID{}, &fs.PathError{Op: "fstat", Path: f.Name(), Err: err}
	}
	return idOf(&st), nil
}

func idOf(st *unix.Stat_t) fileID {
	return fileID{uint64(st.Dev), st.Ino, st.Size, st.Mode&unix.S_IFMT == unix.S_IFREG}
}

// mapOpen maps a file that will be read as a whole, or in parts.
func mapOpen(f *os.File, size int64, whole bool) ([]byte, error) {
	flags := unix.MAP_SHARED
	if whole {
		flags |= mapWhole
	}
	return unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, flags)
}

func unmap(data []byte) error { return unix.Munmap(data) }
