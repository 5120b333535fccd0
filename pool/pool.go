// Package pool does many things at once, and no more than it was told.
//
// A [Pool] has slots. Whoever makes elements of a pass ([Pool.Each], [Pool.Ranges],
// [Stream]) or does anything else for long ([Pool.Do]) has one for as long, so passes
// that share a pool do no more at once, all together, than one of them would.
//
// What is done within a slot may make passes of its own, of the same pool or of
// another: these belong to it, and take no slots. So nobody who has a slot waits for
// another one, and pools cannot lock up.
//
// A pool also bounds the bytes that are in use at once. Who is about to read or decode
// what is large says how much it will be ([Take]), and waits while others have too
// much. What one computation takes in parts belongs together ([Hold]); who has bytes
// and waits for others says so ([Wait]). Nobody waits for who waits, so bytes cannot
// lock up either.
//
// A nil *Pool is one of as many slots as there are processors that nobody shares, and
// its bytes are those of all that is done in no pool: at most 512 MiB.
package pool

import (
	"context"
	"runtime"
)

// A Pool is a bound on what is done at once, and on the bytes that are in use
// meanwhile. Its methods may be called by many goroutines.
type Pool struct {
	workers int
	slots   *slots // nil: nobody shares them
	room    *room  // nil: that of the context, or of no pool
	least   int    // elements that a worker takes at a time, if there are as many
}

// New returns a pool of so many slots, 0 or less means as many as there are
// processors, and of 512 MiB bytes.
func New(workers int) *Pool { return NewBounded(workers, defaultBytes) }

// NewBounded is [New] with so many bytes; 0 or less means 512 MiB.
func NewBounded(workers int, bytes int64) *Pool {
	if bytes <= 0 {
		bytes = defaultBytes
	}
	return newPool(workers, newRoom(bytes))
}

// Beside returns a pool of so many slots of its own, which shares the bytes of p.
func (p *Pool) Beside(workers int) *Pool {
	if p == nil || p.room == nil {
		return newPool(workers, anywhere)
	}
	return newPool(workers, p.room)
}

func newPool(workers int, r *room) *Pool {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return &Pool{workers: workers, slots: newSlots(workers), room: r}
}

// AtLeast returns p, slots, bytes and all, for passes over elements that are made
// together: in [Pool.Ranges] and [Stream] a worker takes at least so many consecutive
// ones at a time, from the first on and however long they take, as long as there are
// as many.
func (p *Pool) AtLeast(elements int) *Pool {
	if p == nil {
		return &Pool{workers: runtime.GOMAXPROCS(0), least: elements}
	}
	q := *p
	q.least = elements
	return &q
}

// spansOf is n elements that workers are to make.
func (p *Pool) spansOf(n int) spans {
	s := spans{n: n, least: 1, limit: stretchMost}
	if p != nil {
		s.least = max(1, p.least)
	}
	return s
}

// Bytes returns how many bytes are in use now, and how many may be.
func (p *Pool) Bytes() (used, most int64) {
	r := anywhere
	if p != nil && p.room != nil {
		r = p.room
	}
	return r.inUse(), r.limit
}

// Workers is the number of slots.
func (p *Pool) Workers() int {
	if p == nil {
		return runtime.GOMAXPROCS(0)
	}
	return p.workers
}

// Do calls do when there is a slot. If ctx ends before, it returns its cause.
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

// within marks the context of what has a slot, or of what is done within a slot.
type within struct{}

// inside returns the context of what is done in slots of the pool or, without slots, in it.
func (p *Pool) inside(ctx context.Context) context.Context {
	if ctx.Value(within{}) != nil {
		return ctx
	}
	return context.WithValue(p.Context(ctx), within{}, (*turn)(nil))
}

// passes returns the context of a pass, and its slots: none where ctx is of something that has
// one, which all workers of the pass have together.
func (p *Pool) passes(ctx context.Context) (context.Context, *slots) {
	if ctx.Value(within{}) != nil {
		return context.WithValue(ctx, within{}, (*turn)(nil)), nil
	}
	ctx = p.Context(ctx)
	if p == nil || p.slots == nil {
		return ctx, newSlots(p.Workers())
	}
	return ctx, p.slots
}
