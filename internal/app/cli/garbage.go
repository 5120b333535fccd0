package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

// garbageBytes is the garbage allowed in addition to the heap in use and as
// much again. Go's default allows only as much garbage as the heap in use, so a
// program with a small heap would spend half of its time in the collector.
const garbageBytes = 128 << 20

// held counts as heap in use, but takes no memory because it is never touched.
var held []byte

// fewerCollections holds memory until end is called. It does nothing if GOGC or
// GOMEMLIMIT is set. It must not end before code is analysed, which holds memory in the
// same way: the runtime clears, and so touches, memory that it had allocated before.
func fewerCollections() (end func()) {
	if garbageIsSet() {
		return func() {}
	}
	held = make([]byte, garbageBytes)
	return func() { runtime.KeepAlive(held) }
}

func garbageIsSet() bool { return os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" }

// serverGarbage is the garbage allowed in a server, unless half of the memory
// that the collector scans is more.
const serverGarbage = 32 << 20

// boundGarbage allows less garbage than [fewerCollections] until end is called,
// for long-running programs with a large heap. The heap of a server is mostly
// pixels, which the collector does not scan, so that its cycles are short.
func boundGarbage() (end func()) {
	if garbageIsSet() {
		return func() {}
	}
	before := debug.SetGCPercent(100)
	var ended atomic.Bool
	var collected func(*[16]byte)
	collected = func(*[16]byte) {
		if !ended.Load() {
			debug.SetGCPercent(garbagePercent())
			runtime.SetFinalizer(new([16]byte), collected) // after the next collection
		}
	}
	collected(nil)
	runtime.GC()
	return func() {
		ended.Store(true)
		debug.SetGCPercent(before)
	}
}

// garbagePercent returns the allowed garbage, in percent of the heap in use
// after the last collection.
func garbagePercent() int {
	heap := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/heap:bytes"}}
	metrics.Read(heap)
	inUse := max(heap[0].Value.Uint64(), 1<<20)
	return int(100 * max(serverGarbage, heap[1].Value.Uint64()/2) / inUse)
}

// freeMemory returns a function that schedules the return of unused memory to
// the system, shortly after its last call.
func freeMemory() func() {
	var mu sync.Mutex
	var soon *time.Timer
	return func() {
		mu.Lock()
		defer mu.Unlock()
		if soon == nil {
			soon = time.AfterFunc(time.Second, debug.FreeOSMemory)
		} else {
			soon.Reset(time.Second)
		}
	}
}
