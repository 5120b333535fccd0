package dataset

import (
	"context"
	"sync"
)

// A Once is a value that is made once, when it is first asked for, for all who ask. An error
// is not remembered. Its zero value is ready, and it may be used by many goroutines.
type Once[T any] struct {
	mu     sync.Mutex
	made   bool
	making chan struct{} // closed when the call under way has ended; nil if there is none
	value  T
}

// Get returns the value, or has it made. Who waits for another to make it is not counted as
// using the memory that this one may wait for ([pool.Wait]).
func (o *Once[T]) Get(ctx context.Context, make func(ctx context.Context) (T, error)) (T, error) {
	for {
		o.mu.Lock()
		switch {
		case o.made:
			defer o.mu.Unlock()
			return o.value, nil
		case o.making == nil:
			o.begin()
			o.mu.Unlock()
			return o.make(ctx, make)
		}
		other := o.making
		o.mu.Unlock()
		if err := waitFor(ctx, other); err != nil {
			var zero T
			return zero, err
		}
	}
}

func (o *Once[T]) begin() { o.making = make(chan struct{}) }

func (o *Once[T]) make(ctx context.Context, make func(ctx context.Context) (T, error)) (v T, err error) {
	ok := false
	defer func() { // also after a panic, or others would wait for ever
		o.mu.Lock()
		defer o.mu.Unlock()
		if ok {
			o.value, o.made = v, true
		}
		close(o.making)
		o.making = nil
	}()
	v, err = make(ctx)
	ok = err == nil
	return v, err
}
