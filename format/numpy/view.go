package numpy

import (
	"errors"
	"runtime/debug"
	"sync/atomic"
	"time"
	"unsafe"
)

// A view is a mapped file, for rows that are in the page cache: copying them takes two
// thirds of the time of reading, and for small ones a sixth. Other rows are read,
// because a page fault would block a whole processor of the program.
type view struct {
	data []byte
	// seen has the time of the last check of each chunk, since the program began: negative
	// if it was not entirely in memory, and 0 before the first check.
	seen []atomic.Int64
}

const (
	// chunkBytes is the unit of checks.
	chunkBytes = 1 << 20
	// seenFor is how long the result of a check is used.
	seenFor = time.Second
	// maxMapped bounds the mapped bytes of all columns, because the system counts their
	// resident pages as memory of the program.
	maxMapped = 4 << 30
)

// mapped is the number of mapped bytes.
var mapped atomic.Int64

// errFault is the error of a page fault: the file was truncated, or cannot be read.
var errFault = errors.New("the file was truncated, or cannot be read")

func newView(data []byte) *view {
	return &view{data: data, seen: make([]atomic.Int64, (len(data)+chunkBytes-1)/chunkBytes)}
}

// read copies a part of the file to dst, if it is in memory.
func (v *view) read(dst []byte, at int64, now time.Duration) (done bool, err error) {
	to := at + int64(len(dst))
	for k := at / chunkBytes; k*chunkBytes < to; k++ {
		if !v.has(int(k), now) {
			return false, nil
		}
	}
	return true, v.copy(dst, v.data[at:to])
}

// has reports whether a chunk is in memory, or was a moment ago.
func (v *view) has(k int, now time.Duration) bool {
	last := time.Duration(v.seen[k].Load())
	if last == 0 || now-last.Abs() > seenFor {
		from := k * chunkBytes
		if last = now; !inMemory(v.data[from:min(from+chunkBytes, len(v.data))]) {
			last = -now
		}
		v.seen[k].Store(int64(last))
	}
	return last > 0
}

// copy copies bytes that may be missing: if the file was truncated, reading them is a
// fault.
func (v *view) copy(dst, src []byte) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch p := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }:
			if p.Addr()-uintptr(unsafe.Pointer(unsafe.SliceData(src))) >= uintptr(len(src)) {
				panic(p)
			}
			err = errFault
		default:
			panic(p)
		}
	}()
	copy(dst, src)
	return nil
}
