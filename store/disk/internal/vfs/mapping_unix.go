//go:build unix

package vfs

import (
	"io/fs"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A fileID identifies a file.
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

// mapOpen maps a file that will be read in parts.
func mapOpen(f *os.File, size int64) ([]byte, error) {
	return unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
}

func unmap(data []byte) error { return unix.Munmap(data) }

// mapOver maps a file that will be read as a whole over existing memory. mmap returns the
// pointer it received, which the race detector cannot know.
//
//go:nocheckptr
func mapOver(at unsafe.Pointer, size int, f *os.File) error {
	_, err := unix.MmapPtr(int(f.Fd()), 0, at, uintptr(size), unix.PROT_READ, unix.MAP_SHARED|unix.MAP_FIXED|mapWhole)
	return err
}

// unmapOver maps plain memory there again, as the Go runtime does.
//
//go:nocheckptr
func unmapOver(at unsafe.Pointer, size int) error {
	_, err := unix.MmapPtr(-1, 0, at, uintptr(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_FIXED)
	return err
}
