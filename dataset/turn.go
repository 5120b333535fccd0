package dataset

import (
	"context"
	"sync"
)

// A turn is a lock whose owners may be slow, so that who waits for it may leave. The
// zero turn is free, and takes no memory of its own as long as nobody waits: there is
// one for each sample that is under way.
type turn struct {
	mu      sync.Mutex
	taken   bool
	changed chan struct{} // closed when it is given back; nil if nobody waits
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

// given returns what is closed when the turn is free.
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

// give gives the turn back.
func (t *turn) give() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taken = false
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
}
