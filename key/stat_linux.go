package key

import (
	"io/fs"
	"sync"
	"syscall"
)

// StatOf returns the state of the file that info describes.
func StatOf(info fs.FileInfo) FileStat {
	s := FileStat{Size: info.Size(), Mtime: info.ModTime().UnixNano()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.Dev, s.Ino, s.Ctime = uint64(sys.Dev), sys.Ino, sys.Ctim.Nano()
	}
	return s
}

// File systems in memory. Their pages are never written to disk, so only the first
// write through a mapping sets a new time, if any.
const (
	tmpfs     = 0x01021994
	ramfs     = 0x858458f6
	hugetlbfs = 0x958458f6
)

// inMemory caches, by device, whether the file system is in memory.
var inMemory sync.Map // of uint64

// stampsMappings reports whether the file system of a file updates its times on writes
// through a mapping.
func stampsMappings(path string, s FileStat) bool {
	if known, ok := inMemory.Load(s.Dev); ok {
		return !known.(bool)
	}
	var system syscall.Statfs_t
	if syscall.Statfs(path, &system) != nil {
		return false
	}
	kind := uint32(system.Type)
	found := kind == tmpfs || kind == ramfs || kind == hugetlbfs
	inMemory.Store(s.Dev, found)
	return !found
}
