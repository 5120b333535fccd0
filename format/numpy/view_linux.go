package numpy

import (
	"math"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// viewOf maps a file of the given size, within the bound and if the system reports which
// of its pages are in memory. It does not for files that other users own and only they
// may write.
func viewOf(f *os.File, bytes int64) *view {
	if bytes == 0 || bytes > min(maxMapped, math.MaxInt/8) || !reportsResidency(f) {
		return nil
	}
	if mapped.Add(bytes) <= maxMapped {
		if data, err := unix.Mmap(int(f.Fd()), 0, int(bytes), unix.PROT_READ, unix.MAP_SHARED); err == nil {
			return newView(data)
		}
	}
	mapped.Add(-bytes)
	return nil
}

// reportsResidency reports whether the system reports which pages of a file are in memory.
func reportsResidency(f *os.File) bool {
	var s unix.Stat_t
	if unix.Fstat(int(f.Fd()), &s) != nil {
		return false
	}
	return int(s.Uid) == os.Geteuid() || unix.Access(f.Name(), unix.W_OK) == nil
}

// close unmaps the file. No goroutine may read it any longer.
func (v *view) close() {
	mapped.Add(-int64(len(v.data)))
	_ = unix.Munmap(v.data)
}

// inMemory reports whether all pages of a chunk are in memory. If so, it maps them,
// which is faster than a fault for each.
func inMemory(chunk []byte) bool {
	pages := make([]byte, (len(chunk)+os.Getpagesize()-1)/os.Getpagesize())
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(unsafe.SliceData(chunk))), uintptr(len(chunk)), uintptr(unsafe.Pointer(unsafe.SliceData(pages))))
	if errno != 0 {
		return false
	}
	for _, p := range pages {
		if p&1 == 0 {
			return false
		}
	}
	_ = unix.Madvise(chunk, unix.MADV_POPULATE_READ) // unknown to older systems
	return true
}
