package dataset

import (
	"context"
	"sync"
)

// A turn is a lock for slow owners: waiting for it can be canceled. The zero turn is
// free, and allocates memory only while a goroutine waits, because each sample in
// progress has one.
type turn struct {
	mu      sync.Mutex
	taken   bool
	changed chan struct{} // closed when the turn is released; nil if no goroutine waits
}

// tryTake takes the turn if it is free.
func (t *turn) tryTake() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	free := !t.taken
	t.taken = true
	return free
}

// take waits for the turn, or for the end of ctx.
func (t *turn) take(ctx context.Context) error {
	for !t.tryTake() {
		select {
		case <-t.given():
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// given returns a channel that is closed when the turn is free.
func (t *turn) given() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.taken {
		return free
	}
	if t.changed == nil {
		t.changed = make(chan struct{})
	}
	return t.changed
}

// free is closed.
var free = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// give releases the turn.
func (t *turn) give() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taken = false
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
}
