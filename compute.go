package larder

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// computeOnce computes the value under k after memory and store had nothing, unless
// another process does.
func (c Call[T]) computeOnce(ctx context.Context, l *Larder, k key.Key) (outcome, error) {
	if !c.Action.Resolved() {
		return c.computeResolved(ctx, l, k)
	}
	if c.MemoryOnly {
		return c.compute(ctx, l, k)
	}
	release, err := l.lease(ctx, k)
	if err != nil {
		return outcome{}, fmt.Errorf("larder: %s: %w", c.Action.Op().Name(), err)
	}
	defer release()
	// Another process may have stored it while we waited.
	if r, ok := c.findInStore(ctx, l, k, l.reads.Get); ok {
		return c.outcome(r)
	}
	return c.compute(ctx, l, k)
}

// compute computes and stores the value under k. The caller holds the lease.
func (c Call[T]) compute(ctx context.Context, l *Larder, k key.Key) (outcome, error) {
	v, err := c.run(ctx, l)
	if err != nil {
		return outcome{}, err
	}
	s, err := c.settle(ctx, l, k, v, &settleBuffers{entry: new(entry), record: new(store.Record)})
	stored := err == nil && s.record != nil && l.put(ctx, *s.record)
	c.putSettled(l, s, stored)
	return s.outcome, err
}

// computed is a value that was just computed.
type computed[T any] struct {
	value T
	cost  time.Duration
	notes *notebook
	reads []Read
}

// run computes the value and records its dependencies.
func (c Call[T]) run(ctx context.Context, l *Larder) (v computed[T], err error) {
	v.notes = new(notebook)
	start := time.Now()
	v.value, err = c.Compute(withNotebook(ctx, v.notes))
	v.cost = time.Since(start)
	l.count.computed.Add(1)
	l.count.computing.Add(int64(v.cost))
	var changed error
	v.reads, changed = v.notes.pages()
	// A computation may return half a value after its context ended.
	if err = cmp.Or(err, changed, context.Cause(ctx)); err != nil {
		l.count.failed.Add(1)
	}
	return v, err
}
