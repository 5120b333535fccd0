// Package pool provides worker pools with limits on concurrency and memory.
//
// A [Pool] has slots. A task has a slot while it computes elements of a pass
// ([Pool.Each], [Pool.Ranges], [Stream]) or other long work ([Pool.Do]). So passes that
// share a pool run no more tasks at a time than one of them would.
//
// A task with a slot may run passes of its own, in the same pool or in another. They
// belong to the task and take no slots. So a task with a slot never waits for another
// slot, and pools cannot deadlock.
//
// A pool also bounds the bytes in use. A task that is about to read or decode a large
// value reserves its size ([Reserve]), and waits while too much is in use. [Reservation]
// joins the reservations of one computation. A task that has bytes and waits for others
// declares it ([Wait]). No task waits for one that waits, so memory cannot deadlock
// either.
//
// A nil *Pool has one slot per processor, not shared between passes. Its bytes are
// shared by all work outside of pools: at most 512 MiB.
package pool

import (
	"context"
	"runtime"
)

// A Pool bounds concurrent tasks and the bytes that they use. It is safe for concurrent
// use.
type Pool struct {
	workers  int
	slots    *slots    // nil: each pass has its own
	capacity *capacity // nil: that of the context, or of no pool
	least    int       // elements that a worker takes at a time, if there are enough
}

// New returns a pool of 512 MiB with the given number of slots; 0 or less means one per
// processor.
func New(workers int) *Pool { return NewBounded(workers, defaultBytes) }

// NewBounded is [New] with a bound on bytes; 0 or less means 512 MiB.
func NewBounded(workers int, bytes int64) *Pool {
	if bytes <= 0 {
		bytes = defaultBytes
	}
	return newPool(workers, newCapacity(bytes))
}

// WithSlots returns a pool with its own slots that shares the bytes of p.
func (p *Pool) WithSlots(workers int) *Pool {
	if p == nil || p.capacity == nil {
		return newPool(workers, anywhere)
	}
	return newPool(workers, p.capacity)
}

func newPool(workers int, r *capacity) *Pool {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return &Pool{workers: workers, slots: newSlots(workers), capacity: r}
}

// AtLeast returns p, with the same slots and bytes, for passes over elements that are
// computed together. In [Pool.Ranges] and [Stream] a worker takes at least the given
// number of consecutive elements at a time, however long they take, while that many are
// left.
func (p *Pool) AtLeast(elements int) *Pool {
	if p == nil {
		return &Pool{workers: runtime.GOMAXPROCS(0), least: elements}
	}
	q := *p
	q.least = elements
	return &q
}

func (p *Pool) spansOf(n int) spans {
	s := spans{n: n, least: 1, limit: maxStretch}
	if p != nil {
		s.least = max(1, p.least)
	}
	return s
}

// Bytes returns the number of bytes in use and the bound.
func (p *Pool) Bytes() (used, most int64) {
	r := anywhere
	if p != nil && p.capacity != nil {
		r = p.capacity
	}
	return r.inUse(), r.limit
}

// Workers returns the number of slots.
func (p *Pool) Workers() int {
	if p == nil {
		return runtime.GOMAXPROCS(0)
	}
	return p.workers
}

// Do waits for a slot and calls do. If ctx ends first, Do returns its cause.
func (p *Pool) Do(ctx context.Context, do func(ctx context.Context) error) error {
	if ctx.Value(within{}) != nil || p == nil || p.slots == nil {
		return do(p.inside(ctx))
	}
	inner, end, err := p.slots.begin(p.inside(ctx), nil)
	if err != nil {
		return err
	}
	defer end()
	return do(inner)
}

// within is the context key for work that has a slot, or runs within one.
type within struct{}

// inside returns the context for work in the slots of the pool, or in the pool without
// slots.
func (p *Pool) inside(ctx context.Context) context.Context {
	if ctx.Value(within{}) != nil {
		return ctx
	}
	return context.WithValue(p.Context(ctx), within{}, (*slotLease)(nil))
}

// passes returns the context of a pass and its slots. There are none if ctx has a slot,
// which all workers of the pass share.
func (p *Pool) passes(ctx context.Context) (context.Context, *slots) {
	if ctx.Value(within{}) != nil {
		return context.WithValue(ctx, within{}, (*slotLease)(nil)), nil
	}
	ctx = p.Context(ctx)
	if p == nil || p.slots == nil {
		return ctx, newSlots(p.Workers())
	}
	return ctx, p.slots
}
