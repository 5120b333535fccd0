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

// TidyMemory, if set, runs the garbage collector around values of 128 MiB and more. It
// also limits the memory of the process while they are in use, unless it has a limit. It
// is for programs that only run flows: the command line sets it.
var TidyMemory atomic.Bool

// claims returns how many bytes decoding takes.
func claims(c codec.Codec, b []byte) int64 {
	const each = 4 // per byte of a file that does not say
	if c.Claims == nil {
		return each * int64(len(b))
	}
	return c.Claims(b)
}

// smallValue is the size in bytes below which a value is not counted, as it is not worth
// a lock.
const smallValue = 64 << 10

// using returns the context of an execution that reads items of samples, and a function
// that ends it. Values decoded under the context count for the execution.
func using(ctx context.Context, ins ...Sample) (context.Context, func()) {
	inner, end := pool.Reservation(ctx)
	if inner == ctx {
		return ctx, end // a transform within a transform
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

// largeKey is the context key of the flag that an execution has a large value.
type largeKey struct{}

// takeIn waits until the given number of bytes may be read or decoded (see [pool.Reserve]).
// It counts them until the execution of ctx ends or, if there is none, until the
// returned function is called.
func takeIn(ctx context.Context, bytes int64) (done func(), err error) {
	if bytes < smallValue {
		return func() {}, nil
	}
	done, err = pool.Reserve(ctx, bytes)
	if err != nil || bytes < largeValue {
		return done, err
	}
	large, _ := ctx.Value(largeKey{}).(*atomic.Bool)
	if large == nil {
		end := done
		done = func() { end(); tidyUp() }
	}
	freeSpace(bytes, large == nil || !large.Swap(true))
	return done, nil
}

// largeValue is the size in bytes from which a value is worth a garbage collection, and
// is released when the transform that read it is done.
var largeValue int64 = 128 << 20 // changed in tests only

// collecting counts the users of large values and collects garbage before, while and
// after they exist. On its own, the collector waits until the heap has twice the size
// that it had with them.
var collecting struct {
	sync.Mutex
	users   int // users of large values
	limited bool
}

// freeSpace collects garbage before a large value is decoded and bounds the garbage that
// accumulates, unless the program has its own memory limit. another adds a user of large
// values.
func freeSpace(bytes int64, another bool) {
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
	const headroom = 128 << 20
	debug.SetMemoryLimit(int64(m.Sys-m.HeapIdle) + bytes + headroom)
	c.limited = true
}

// tidyUp is called when a user of large values has ended.
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
