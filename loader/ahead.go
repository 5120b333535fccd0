package loader

import (
	"context"
	"sync"
)

// An ahead bounds the batches that a reader prefetches: their number, and their
// bytes once laid out. Batches are counted from 0, and get memory in this
// order. The next batch for the consumer gets its memory whatever its size.
type ahead struct {
	batches int
	bytes   func() int64 // current bound

	mu      sync.Mutex
	changed *sync.Cond // a field below changed, or the context has ended
	begun   int
	laid    int           // batches before this one have memory, or failed
	handed  int           // batches before this one were returned
	space   map[int]int64 // of batches that were not returned yet
	used    int64
	last    int64 // size of the last batch that was laid out
}

func newAhead(ctx context.Context, batches int, bytes func() int64) *ahead {
	a := &ahead{batches: batches, bytes: bytes, space: map[int]int64{}}
	a.changed = sync.NewCond(&a.mu)
	context.AfterFunc(ctx, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.changed.Broadcast()
	})
	return a
}

// begin waits until another batch may be read: one of the size of the last
// batch is expected to fit into the bounds.
func (a *ahead) begin(ctx context.Context) error {
	return a.wait(ctx, func() bool {
		open := a.begun - a.handed
		expected := a.used + int64(a.begun-a.laid+1)*a.last
		return open == 0 || open < a.batches && expected <= a.bytes()
	}, func() { a.begun++ })
}

// take waits until the k-th batch may be laid out, and calls get to allocate
// its memory.
func (a *ahead) take(ctx context.Context, k int, bytes int64, get func() error) error {
	err := a.wait(ctx, func() bool {
		return a.laid == k && (a.handed == k || a.used+bytes <= a.bytes())
	}, func() { a.space[k], a.used, a.last = bytes, a.used+bytes, bytes })
	if err == nil {
		err = get()
	}
	a.passed(ctx, k)
	return err
}

// passed records that the k-th batch has its memory, or needs none.
func (a *ahead) passed(ctx context.Context, k int) {
	_ = a.wait(ctx, func() bool { return a.laid >= k }, func() { a.laid = max(a.laid, k+1) })
}

// hand records that the next batch was returned.
func (a *ahead) hand() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.used -= a.space[a.handed]
	delete(a.space, a.handed)
	a.handed++
	a.changed.Broadcast()
}

// bytesAhead returns the bytes of batches that are laid out and not returned
// yet.
func (a *ahead) bytesAhead() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.used
}

// wait waits until a condition holds, or ctx ends, and then makes a change.
func (a *ahead) wait(ctx context.Context, until func() bool, change func()) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for !until() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		a.changed.Wait()
	}
	change()
	a.changed.Broadcast()
	return nil
}
