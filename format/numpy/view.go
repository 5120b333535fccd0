package numpy

import (
	"errors"
	"runtime/debug"
	"sync/atomic"
	"time"
	"unsafe"
)

// A view is a file that is mapped, for rows that the system has in memory: to copy those
// takes two thirds of what reading them does, and of small ones a sixth. What is not in
// memory is read, as a fault would hold up a whole processor of this program.
type view struct {
	data []byte
	// seen is when each chunk was looked for, since the program began: below 0 where it
	// was not all there, and 0 before the first look.
	seen []atomic.Int64
}

const (
	// chunkBytes is how much is looked for at once.
	chunkBytes = 1 << 20
	// seenFor is how long what was seen goes for what is.
	seenFor = time.Second
	// mostMapped is how many bytes of files are mapped at most, of all columns: the
	// system counts what it has of them as memory of this program.
	mostMapped = 4 << 30
)

// mapped is how many bytes of files are mapped.
var mapped atomic.Int64

// errFault is the error of memory that is not there: the file was cut short, or cannot
// be read.
var errFault = errors.New("the file has become shorter, or cannot be read")

func newView(data []byte) *view {
	return &view{data: data, seen: make([]atomic.Int64, (len(data)+chunkBytes-1)/chunkBytes)}
}

// read copies a part of the file to dst, if it is in memory at a time.
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

// copy copies what may not be there: where the file was cut short, that is a fault.
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
