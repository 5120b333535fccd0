package loader

import (
	"context"
	"sync"
)

// An ahead bounds what a reader has ahead of its consumer: in batches, and in bytes of
// those that are laid out. Batches are counted from 0, and get room in this order; the
// one that comes next gets it however large it is.
type ahead struct {
	batches int
	bytes   func() int64 // at most, now

	mu      sync.Mutex
	changed *sync.Cond // something of what follows did, or the context has ended
	begun   int
	laid    int           // those before have room, or failed
	handed  int           // those before were handed out
	room    map[int]int64 // of batches that were not handed out
	used    int64
	last    int64 // bytes of the batch that was laid out last
}

func newAhead(ctx context.Context, batches int, bytes func() int64) *ahead {
	a := &ahead{batches: batches, bytes: bytes, room: map[int]int64{}}
	a.changed = sync.NewCond(&a.mu)
	context.AfterFunc(ctx, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.changed.Broadcast()
	})
	return a
}

// begin waits until another batch may be read: until it is likely to find room, if it is
// as large as the last one.
func (a *ahead) begin(ctx context.Context) error {
	return a.wait(ctx, func() bool {
		open := a.begun - a.handed
		expected := a.used + int64(a.begun-a.laid+1)*a.last
		return open == 0 || open < a.batches && expected <= a.bytes()
	}, func() { a.begun++ })
}

// take waits until the k-th batch may be laid out, and calls get to have it done.
func (a *ahead) take(ctx context.Context, k int, bytes int64, get func() error) error {
	err := a.wait(ctx, func() bool {
		return a.laid == k && (a.handed == k || a.used+bytes <= a.bytes())
	}, func() { a.room[k], a.used, a.last = bytes, a.used+bytes, bytes })
	if err == nil {
		err = get()
	}
	a.passed(ctx, k)
	return err
}

// passed says that the k-th batch has its room, or needs none.
func (a *ahead) passed(ctx context.Context, k int) {
	_ = a.wait(ctx, func() bool { return a.laid >= k }, func() { a.laid = max(a.laid, k+1) })
}

// hand says that the next batch is handed out.
func (a *ahead) hand() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.used -= a.room[a.handed]
	delete(a.room, a.handed)
	a.handed++
	a.changed.Broadcast()
}

// bytesAhead is how many bytes are laid out and were not handed out.
func (a *ahead) bytesAhead() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.used
}

// wait waits for something, or for the end of ctx, and then changes something.
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
