package dataset

import (
	"context"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
)

// Parallel calls do for every i in [0, n), at most workers at once (0 or less:
// as many as there are processors), in about that order. The first error ends
// it: the others are told by their context, and no new calls are made. Within
// a context of [Bounded] it shares that bound too.
func Parallel(ctx context.Context, n, workers int, do func(ctx context.Context, i int) error) error {
	if bound, _ := ctx.Value(boundKey{}).(*semaphore.Weighted); bound != nil {
		// What an element does in parallel belongs to the element.
		ctx, do = context.WithValue(ctx, boundKey{}, (*semaphore.Weighted)(nil)), within(bound, do)
	}
	g, ctx := errgroup.WithContext(ctx)
	var mu sync.Mutex
	next := 0
	take := func() int {
		mu.Lock()
		defer mu.Unlock()
		i := next
		next++
		return i
	}
	for range min(Workers(workers), n) {
		g.Go(func() error {
			for i := take(); i < n; i = take() {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if err := do(ctx, i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// InRanges calls do for all of [0, n), some consecutive ones at a time: do returns
// how many of them, from the first on, it has done, one at least unless it failed;
// the others are given to whoever is free. All else is as in [Parallel].
func InRanges(ctx context.Context, n, workers int, do func(ctx context.Context, from, to int) (done int, err error)) error {
	g, ctx := errgroup.WithContext(ctx)
	bound, _ := ctx.Value(boundKey{}).(*semaphore.Weighted)
	inner := context.WithValue(ctx, boundKey{}, (*semaphore.Weighted)(nil)) // what an element does belongs to it
	var mu sync.Mutex
	left := spans{n: n}
	take := func() (span, bool) {
		mu.Lock()
		defer mu.Unlock()
		return left.take(n)
	}
	work := func(t span) error {
		if bound != nil {
			if bound.Acquire(ctx, 1) != nil {
				return context.Cause(ctx)
			}
			defer bound.Release(1)
		}
		start := time.Now()
		done, err := do(inner, t.from, t.to)
		mu.Lock()
		defer mu.Unlock()
		left.settle(t, done, err != nil, time.Since(start))
		return err
	}
	for range min(Workers(workers), n) {
		g.Go(func() error {
			for t, ok := take(); ok; t, ok = take() {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if err := work(t); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// Bounded returns a context in which all calls of [Parallel] together work on at
// most so many elements at once.
func Bounded(ctx context.Context, workers int) context.Context {
	return context.WithValue(ctx, boundKey{}, semaphore.NewWeighted(int64(Workers(workers))))
}

type boundKey struct{}

func within(bound *semaphore.Weighted, do func(ctx context.Context, i int) error) func(ctx context.Context, i int) error {
	return func(ctx context.Context, i int) error {
		if bound.Acquire(ctx, 1) != nil {
			return context.Cause(ctx)
		}
		defer bound.Release(1)
		return do(ctx, i)
	}
}

// Workers is the number of workers meant by n: n itself, or the number of
// processors if n is 0 or less.
func Workers(n int) int {
	if n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}
