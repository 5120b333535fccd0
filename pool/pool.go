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
	ctx, release, err := p.enter(ctx)
	if err != nil {
		return err
	}
	defer release()
	return do(ctx)
}

// within marks the context of what has a slot.
type within struct{}

// enter waits for a slot, unless ctx is of something that has one, and returns the
// context of what is done in it.
func (p *Pool) enter(ctx context.Context) (inner context.Context, release func(), err error) {
	if ctx.Value(within{}) != nil {
		return ctx, func() {}, context.Cause(ctx)
	}
	inner = context.WithValue(ctx, within{}, true)
	if p == nil {
		return inner, func() {}, context.Cause(ctx)
	}
	if p.slots.Acquire(ctx, 1) != nil {
		return nil, nil, context.Cause(ctx)
	}
	return inner, func() { p.slots.Release(1) }, nil
}
