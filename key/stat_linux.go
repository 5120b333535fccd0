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

// Types of file systems that live in memory: their pages are never written to
// disk, so that a write through a mapping leaves a new time once, if at all.
const (
	tmpfs     = 0x01021994
	ramfs     = 0x858458f6
	hugetlbfs = 0x958458f6
)

// inMemory remembers of devices whether their file system lives in memory.
var inMemory sync.Map // of uint64

// stampsMappings reports whether the file system of a file notes when the file
// is written to through a mapping.
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
