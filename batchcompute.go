package larder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/larder-data/larder/internal/proc/singleflight"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// compute computes claims and stores them in one write. It does not cache small values
// in memory: most batches are part of a pass, and millions of tiny values in memory
// cost more than reading one from the store.
func (b *batch[T]) compute(ctx context.Context, claims []*claim[T]) {
	if len(claims) == 0 {
		return
	}
	if b.Compute != nil {
		b.computeTogether(ctx, claims)
	} else {
		b.computeEach(ctx, claims)
	}
	text := provenances.Get().(*[]byte)
	defer provenances.Put(text)
	at := settleBuffers{text: (*text)[:0], changed: onceEach()}
	records := make([]store.Record, 0, len(claims))
	for _, c := range claims {
		if c.ran {
			c.take(ctx, b.larder, &at)
		}
		if c.cached.record != nil {
			records = append(records, *c.cached.record)
		}
	}
	*text = at.text
	inStore := b.larder.put(ctx, records...)
	for _, c := range claims {
		if c.cached.record != nil && inStore && len(c.record.Payload) <= smallPayload {
			continue
		}
		c.cached.entry = clone(c.cached.entry) // a pointer into the claim would retain all claims
		c.putSettled(b.larder, c.cached, inStore)
	}
}

var provenances = sync.Pool{New: func() any { return new([]byte) }}

// onceEach returns a function that asks each operation once whether it changed. Its
// first use must follow the computation of all claims.
func onceEach() func(*key.Op) error {
	asked := map[*key.Op]error{}
	return func(op *key.Op) error {
		err, ok := asked[op]
		if !ok {
			err = op.Changed()
			asked[op] = err
		}
		return err
	}
}

func clone(e *entry) *entry {
	if e == nil {
		return nil
	}
	c := *e
	return &c
}

// take settles a computed value.
func (c *claim[T]) take(ctx context.Context, l *Larder, at *settleBuffers) {
	at.entry, at.record = &c.entry, &c.record
	s, err := c.settle(ctx, l, c.key, c.raw, at)
	if c.made = (singleflight.Made[outcome]{Value: s.outcome, Err: err}); err == nil {
		c.cached = s
	}
}

// computeEach computes values one after another, until one fails or Patience ends.
func (b *batch[T]) computeEach(ctx context.Context, claims []*claim[T]) {
	start := time.Now()
	for i, c := range claims {
		c.raw, c.made.Err = singleflight.Protect(func() (computed[T], error) { return c.run(ctx, b.larder) })
		c.ran = c.made.Err == nil
		if c.made.Err == nil && (b.Patience == 0 || time.Since(start) < b.Patience) {
			continue
		}
		for _, c := range claims[i+1:] {
			c.made.Err = ErrDeferred
		}
		return
	}
}

// computeTogether computes all values by one call.
func (b *batch[T]) computeTogether(ctx context.Context, claims []*claim[T]) {
	var values []T
	joint := Call[T]{Compute: func(ctx context.Context) (none T, err error) {
		values, err = b.Compute(ctx, positions(claims))
		if err == nil && len(values) != len(claims) {
			err = fmt.Errorf("larder: a batch of %d was requested, but %d values were returned", len(claims), len(values))
		}
		return none, err
	}}
	v, err := singleflight.Protect(func() (computed[T], error) { return joint.run(ctx, b.larder) })
	var failed map[int]error
	if partial := (*PartialError)(nil); errors.As(err, &partial) && len(values) == len(claims) && context.Cause(ctx) == nil {
		failed, err = partial.Errs, nil
	}
	deferred := deferredOf(failed)
	begun := max(1, len(claims)-deferred)
	b.larder.count.computed.Add(int64(begun - 1))
	if failed != nil {
		b.larder.count.failed.Add(int64(len(failed) - deferred - 1)) // run counted one
	}
	v.cost /= time.Duration(begun)
	for i, c := range claims {
		if c.made.Err = cmp.Or(err, failed[i]); c.made.Err == nil {
			v.value = values[i]
			c.raw, c.ran = v, true
		}
	}
}

func deferredOf(failed map[int]error) (n int) {
	for _, err := range failed {
		if errors.Is(err, ErrDeferred) {
			n++
		}
	}
	return n
}
