package dataset

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/larder-data/larder/codec"
)

// MaxDecoded bounds the bytes of values that are decoded at once, by what their
// headers claim; 0, the default, means 512 MiB. What a mapper has decoded counts
// until it is done with its sample, and what others decode waits for that. One value
// that is larger than the bound is decoded when no other is in use.
var MaxDecoded atomic.Int64

const defaultMaxDecoded = 512 << 20

// TidyMemory has garbage collected when values of 128 MiB and more come and go, and
// the memory of the process limited meanwhile, unless it has a limit already. It is
// for programs that do nothing but run flows: the command line sets it.
var TidyMemory atomic.Bool

// claims returns how many bytes decoding takes.
func claims(c codec.Codec, b []byte) int64 {
	const each = 4 // of a byte of a file that does not say
	if c.Claims == nil {
		return each * int64(len(b))
	}
	return c.Claims(b)
}

// smallValue is below how many bytes a value does not count: it is not worth a lock.
const smallValue = 64 << 10

// A use is one execution of a maker, or one decoding outside of any: who uses what
// was decoded.
type use struct {
	bytes   int64        // written with the lock held
	counted atomic.Bool  // bytes is more than 0
	asking  atomic.Int32 // waiting for others, or for what others may have to do
}

// decoding is what is in use.
var decoding = struct {
	sync.Mutex
	uses    map[*use]bool // those with bytes
	changed chan struct{} // closed when those that wait may go on; nil if nobody waits
}{uses: map[*use]bool{}}

type useKey struct{}

// using returns a context of an execution that reads items, and what ends it. What
// is decoded within belongs to it.
func using(ctx context.Context, in Sample) (context.Context, func()) {
	if u, ok := ctx.Value(useKey{}).(*use); ok && u != nil {
		return ctx, func() {} // a maker within a maker
	}
	u := &use{}
	return context.WithValue(ctx, useKey{}, u), func() {
		if u.end() >= largeValue {
			for f := range in.Fields() {
				f.Item.forget()
			}
			tidyUp()
		}
	}
}

// ask notes that an execution waits for others until what it returns is called: a
// decoding that waits for this execution might be what these others wait for.
func ask(ctx context.Context) func() {
	u, _ := ctx.Value(useKey{}).(*use)
	if u == nil {
		return func() {}
	}
	u.ask(1)
	return func() { u.ask(-1) }
}

func (u *use) ask(n int32) {
	u.asking.Add(n)
	if n > 0 && u.counted.Load() {
		decoding.Lock()
		defer decoding.Unlock()
		wake()
	}
}

// wake has those that wait look again. The lock is held.
func wake() {
	if decoding.changed != nil {
		close(decoding.changed)
		decoding.changed = nil
	}
}

// end counts nothing any more, and returns what was counted.
func (u *use) end() (bytes int64) {
	if !u.counted.Swap(false) {
		return 0
	}
	decoding.Lock()
	defer decoding.Unlock()
	bytes, u.bytes = u.bytes, 0
	delete(decoding.uses, u)
	wake()
	return bytes
}

// takeIn waits until so many bytes may be decoded, and counts them until the
// execution ends that ctx belongs to, or else until what it returns is called.
//
// It waits only for executions that work and wait for nothing, so two cannot wait
// for each other.
func takeIn(ctx context.Context, bytes int64) (done func(), err error) {
	done = func() {}
	if bytes < smallValue {
		return done, nil
	}
	u, _ := ctx.Value(useKey{}).(*use)
	if u == nil {
		u = &use{}
		done = func() { u.end() }
	}
	u.ask(1)
	defer u.ask(-1)
	for {
		wait, ok := u.fits(bytes)
		if ok {
			makeRoom(bytes)
			return done, nil
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// fits counts bytes if they fit, or returns what is closed when they may.
func (u *use) fits(bytes int64) (wait <-chan struct{}, ok bool) {
	limit := MaxDecoded.Load()
	if limit <= 0 {
		limit = defaultMaxDecoded
	}
	decoding.Lock()
	defer decoding.Unlock()
	others, working := int64(0), false
	for o := range decoding.uses {
		if o != u {
			others += o.bytes
			working = working || o.asking.Load() == 0
		}
	}
	if working && others+u.bytes+bytes > limit {
		if decoding.changed == nil {
			decoding.changed = make(chan struct{})
		}
		return decoding.changed, false
	}
	u.bytes += bytes
	u.counted.Store(true)
	decoding.uses[u] = true
	return nil, true
}

// largeValue is from how many bytes on a value is worth a collection of garbage, and
// is let go of when the maker that read it is done.
var largeValue int64 = 128 << 20 // a constant but in tests

// collecting has garbage collected before, beside and after large values: left
// alone, the collector waits until the heap is twice what it was with them.
var collecting struct {
	sync.Mutex
	limited bool
}

// makeRoom collects garbage before a large value is decoded, and bounds what is left
// lying about beside it, unless the program has a memory limit of its own.
func makeRoom(bytes int64) {
	if bytes < largeValue || !TidyMemory.Load() {
		return
	}
	c := &collecting
	c.Lock()
	defer c.Unlock()
	if !c.limited && debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	const room = 128 << 20
	debug.SetMemoryLimit(int64(m.Sys-m.HeapIdle) + bytes + room)
	c.limited = true
}

// tidyUp is called when a large value is not in use any more.
func tidyUp() {
	if !TidyMemory.Load() {
		return
	}
	c := &collecting
	c.Lock()
	defer c.Unlock()
	runtime.GC()
	if !c.limited || largeInUse() {
		return
	}
	debug.SetMemoryLimit(math.MaxInt64)
	c.limited = false
}

func largeInUse() bool {
	decoding.Lock()
	defer decoding.Unlock()
	for u := range decoding.uses {
		if u.bytes >= largeValue {
			return true
		}
	}
	return false
}
