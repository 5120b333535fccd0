package dataset

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/pool"
)

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

// using returns a context of an execution that reads items of samples, and what ends
// it. What is decoded within belongs to it.
func using(ctx context.Context, ins ...Sample) (context.Context, func()) {
	inner, end := pool.Hold(ctx)
	if inner == ctx {
		return ctx, end // a maker within a maker
	}
	large := &atomic.Bool{}
	return context.WithValue(inner, largeKey{}, large), func() {
		end()
		if !large.Load() {
			return
		}
		for _, in := range ins {
			for f := range in.Fields() {
				f.Item.forget()
			}
		}
		tidyUp()
	}
}

// largeKey is of what notes that an execution has a large value.
type largeKey struct{}

// takeIn waits until so many bytes may be read or decoded (see [pool.Take]), and counts
// them until the execution ends that ctx belongs to, or else until what it returns is
// called.
func takeIn(ctx context.Context, bytes int64) (done func(), err error) {
	if bytes < smallValue {
		return func() {}, nil
	}
	done, err = pool.Take(ctx, bytes)
	if err != nil || bytes < largeValue {
		return done, err
	}
	large, _ := ctx.Value(largeKey{}).(*atomic.Bool)
	if large == nil {
		end := done
		done = func() { end(); tidyUp() }
	}
	makeRoom(bytes, large == nil || !large.Swap(true))
	return done, nil
}

// largeValue is from how many bytes on a value is worth a collection of garbage, and
// is let go of when the maker that read it is done.
var largeValue int64 = 128 << 20 // a constant but in tests

// collecting has garbage collected before, beside and after large values: left
// alone, the collector waits until the heap is twice what it was with them.
var collecting struct {
	sync.Mutex
	users   int // of large values
	limited bool
}

// makeRoom collects garbage before a large value is decoded, and bounds what is left
// lying about beside it, unless the program has a memory limit of its own. It may be
// of another user of large values.
func makeRoom(bytes int64, another bool) {
	c := &collecting
	c.Lock()
	defer c.Unlock()
	if another {
		c.users++
	}
	if !TidyMemory.Load() || !c.limited && debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	const room = 128 << 20
	debug.SetMemoryLimit(int64(m.Sys-m.HeapIdle) + bytes + room)
	c.limited = true
}

// tidyUp is called when one who used large values has ended.
func tidyUp() {
	c := &collecting
	c.Lock()
	defer c.Unlock()
	c.users--
	if TidyMemory.Load() {
		runtime.GC()
	}
	if c.limited && c.users == 0 {
		debug.SetMemoryLimit(math.MaxInt64)
		c.limited = false
	}
}
