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
// A nil *Pool is one of as many slots as there are processors that nobody shares.
package pool

import (
	"context"
	"runtime"

	"golang.org/x/sync/semaphore"
)

// A Pool is a bound on what is done at once. Its methods may be called by many
// goroutines.
type Pool struct {
	workers int
	slots   *semaphore.Weighted
}

// New returns a pool of so many slots; 0 or less means as many as there are
// processors.
func New(workers int) *Pool {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return &Pool{workers, semaphore.NewWeighted(int64(workers))}
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
	inner, slots := p.within(ctx)
	if err := slots.take(ctx); err != nil {
		return err
	}
	defer slots.give()
	return do(inner)
}

// within marks the context of what has a slot.
type within struct{}

// within returns the context of what is done in slots of the pool, and the slots: none
// where ctx is of something that has one.
func (p *Pool) within(ctx context.Context) (inner context.Context, s slots) {
	if ctx.Value(within{}) != nil {
		return ctx, s
	}
	if p != nil {
		s.of = p.slots
	}
	return context.WithValue(ctx, within{}, true), s
}

// slots are those of a pool, or of none.
type slots struct{ of *semaphore.Weighted }

// take waits for a slot, or for the end of ctx.
func (s slots) take(ctx context.Context) error {
	if s.of != nil && s.of.Acquire(ctx, 1) != nil {
		return context.Cause(ctx)
	}
	if err := context.Cause(ctx); err != nil {
		s.give()
		return err
	}
	return nil
}

func (s slots) give() {
	if s.of != nil {
		s.of.Release(1)
	}
}
