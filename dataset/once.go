package dataset

import (
	"context"
	"sync"
)

// A Once is a value that is computed once, on first use, for all callers. Errors are not
// cached. The zero value is ready to use. A Once may be used by many goroutines.
type Once[T any] struct {
	mu      sync.Mutex
	made    bool
	running chan struct{} // closed when the current call has ended; nil if there is none
	value   T
}

// Get returns the value, and computes it if necessary. While it waits for another
// goroutine, the caller's memory does not block that goroutine ([pool.Wait]).
func (o *Once[T]) Get(ctx context.Context, make func(ctx context.Context) (T, error)) (T, error) {
	for {
		o.mu.Lock()
		switch {
		case o.made:
			defer o.mu.Unlock()
			return o.value, nil
		case o.running == nil:
			o.begin()
			o.mu.Unlock()
			return o.make(ctx, make)
		}
		other := o.running
		o.mu.Unlock()
		if err := waitFor(ctx, other); err != nil {
			var zero T
			return zero, err
		}
	}
}

func (o *Once[T]) begin() { o.running = make(chan struct{}) }

func (o *Once[T]) make(ctx context.Context, make func(ctx context.Context) (T, error)) (v T, err error) {
	ok := false
	defer func() { // also after a panic, or others would wait forever
		o.mu.Lock()
		defer o.mu.Unlock()
		if ok {
			o.value, o.made = v, true
		}
		close(o.running)
		o.running = nil
	}()
	v, err = make(ctx)
	ok = err == nil
	return v, err
}
