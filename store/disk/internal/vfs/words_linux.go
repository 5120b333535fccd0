package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// writesInPlace are the file systems that overwrite in place, on this machine only. Others
// may need space for that, or several memories.
var writesInPlace = map[int64]bool{
	unix.EXT4_SUPER_MAGIC: true, // ext2 and ext3, too
	unix.XFS_SUPER_MAGIC:  true,
	unix.TMPFS_MAGIC:      true,
}

func mapWords(f *os.File, n int) ([]atomic.Uint64, func() error, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return nil, nil, err
	}
	var data []byte
	cerr := conn.Control(func(fd uintptr) { data, err = mapShared(int(fd), n*8) })
	if err = errors.Join(cerr, err); err != nil {
		return nil, nil, &fs.PathError{Op: "map", Path: f.Name(), Err: err}
	}
	words := unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(unsafe.SliceData(data))), n)
	return words, func() error { return unix.Munmap(data) }, nil
}

func mapShared(fd, size int) ([]byte, error) {
	var system unix.Statfs_t
	if err := unix.Fstatfs(fd, &system); err != nil {
		return nil, err
	}
	if !writesInPlace[int64(system.Type)] {
		return nil, fmt.Errorf("a file system of type %#x: %w", system.Type, errors.ErrUnsupported)
	}
	if err := unix.Fallocate(fd, 0, 0, int64(size)); err != nil {
		return nil, err
	}
	// Blocks shared with a copy of the directory have no space of their own.
	err := unix.Fallocate(fd, unix.FALLOC_FL_UNSHARE_RANGE, 0, int64(size))
	if err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, unix.EINVAL) {
		return nil, err
	}
	return unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}
