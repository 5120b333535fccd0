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

// garbageBytes is how much garbage may gather beside what is in use, and as much
// again as that: by itself Go allows as much as is in use, which in a program that has
// just begun is so little that half of its time goes into looking for garbage.
const garbageBytes = 128 << 20

// held counts as memory in use, and takes none, as it is never touched.
var held []byte

// fewerCollections holds memory until the function that it returns is called. Where GOGC or
// GOMEMLIMIT say how much garbage there may be, nothing is held.
func fewerCollections() (end func()) {
	if garbageIsSet() {
		return func() {}
	}
	held = make([]byte, garbageBytes)
	return func() { runtime.KeepAlive(held) }
}

func garbageIsSet() bool { return os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" }

// serverGarbage is how much garbage may gather in a server, and a quarter of what is in use if
// that is more.
const serverGarbage = 64 << 20

// boundGarbage has little garbage gather in place of what [fewerCollections] allows, for a program
// that lives for long and holds much, until the function that it returns is called. What a server
// holds is pixels for the most part, which the collector does not go through.
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
	held = nil
	collected(nil)
	runtime.GC()
	return func() {
		ended.Store(true)
		debug.SetGCPercent(before)
	}
}

// garbagePercent is how much garbage there may be, in parts of what was in use after the last
// collection.
func garbagePercent() int {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	inUse := max(live[0].Value.Uint64(), 1<<20)
	return int(100 * max(serverGarbage, inUse/4) / inUse)
}

// freeMemory returns what gives the system the memory that is not used, soon after it was called
// last.
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
