package dataset

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"sync"

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

// Stream yields the elements of ds in order while workers get the next ones
// ready. At most 2*workers elements are ready or under way beside the one
// handed out, so a slow consumer holds the workers back. It ends at the first
// error.
func Stream[T any](ctx context.Context, ds Dataset[T], workers int) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		var wait sync.WaitGroup
		defer wait.Wait()
		defer cancel(errStreamEnded)
		queue := make(chan chan element[T], Workers(workers))
		slots := make(chan struct{}, Workers(workers))
		wait.Go(func() { feed(ctx, ds, queue, slots, &wait) })
		for ready := range queue {
			e := <-ready
			if !yield(e.value, e.err) || e.err != nil {
				return
			}
		}
		if err := context.Cause(ctx); err != nil {
			var zero T
			yield(zero, err)
		}
	}
}

var errStreamEnded = errors.New("dataset: the consumer of the stream has left")

type element[T any] struct {
	value T
	err   error
}

// feed starts one goroutine an element, in order, as long as there is room in
// the queue and a slot to work in.
func feed[T any](ctx context.Context, ds Dataset[T], queue chan<- chan element[T], slots chan struct{}, wait *sync.WaitGroup) {
	defer close(queue)
	for i := range ds.Len() {
		ready := make(chan element[T], 1)
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		wait.Go(func() {
			defer func() { <-slots }()
			v, err := ds.At(ctx, i)
			ready <- element[T]{v, err}
		})
		select {
		case queue <- ready:
		case <-ctx.Done():
			return
		}
	}
}
