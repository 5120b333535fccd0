package larder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/larder-data/larder/internal/proc/singleflight"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// claim is a call of a batch that no other caller of this process runs. Its computation
// may outlive the caller of the batch.
type claim[T any] struct {
	*Call[T]
	at   int // position in the batch's Calls
	key  key.Key
	made singleflight.Made[outcome]
	ran  bool        // whether it was computed
	raw  computed[T] // result of the computation
	kept settled[T]  // result to cache, if any

	entry  entry // memory for that of kept
	record store.Record
}

func positions[T any](claims []*claim[T]) []int {
	at := make([]int, len(claims))
	for i, c := range claims {
		at[i] = c.at
	}
	return at
}

// makeClaimed computes claims and returns their outcomes in the same order.
func (b *batch[T]) makeClaimed(ctx context.Context, claims []*claim[T]) []singleflight.Made[outcome] {
	var resolved, unresolved []*claim[T]
	for _, c := range claims {
		if c.Action.Resolved() {
			resolved = append(resolved, c)
		} else {
			unresolved = append(unresolved, c)
		}
	}
	b.makeUnresolved(ctx, unresolved)
	b.makeResolved(ctx, resolved)
	made := make([]singleflight.Made[outcome], len(claims))
	for i, c := range claims {
		made[i] = c.made
	}
	return made
}

// makeUnresolved computes claims whose inputs are not yet known by content: see
// [Call.makeResolved].
func (b *batch[T]) makeUnresolved(ctx context.Context, claims []*claim[T]) {
	if len(claims) == 0 {
		return
	}
	if b.Prepare != nil {
		b.Prepare(ctx, positions(claims))
	}
	inner := Batch[T]{Patience: b.Patience}
	var opened []*opening[T]
	for _, c := range claims {
		if o, err := c.resolve(ctx); err != nil {
			c.made.Err = err
		} else {
			opened, inner.Calls = append(opened, o), append(inner.Calls, o.resolved)
		}
	}
	if b.Compute != nil {
		inner.Compute = func(ctx context.Context, missing []int) ([]T, error) {
			at := make([]int, len(missing))
			for j, i := range missing {
				at[j] = opened[i].at
			}
			return b.Compute(ctx, at)
		}
	}
	results, errs := inner.Do(ctx, b.larder)
	remembers := func(r Result[T]) bool { return r.From != Computed } // see compute
	var links []store.Record
	for i, o := range opened {
		if errs != nil && errs[i] != nil {
			o.made.Err = errs[i]
			continue
		}
		var link *store.Record
		o.made.Value, link, o.made.Err = o.resolvedOutcome(ctx, b.larder, o.key, o.resolved, results[i], o.reads, o.notes, remembers)
		if link != nil {
			links = append(links, *link)
		}
	}
	b.larder.put(ctx, links...)
}

// opening is a claim with its inputs by content and their dependencies.
type opening[T any] struct {
	*claim[T]
	resolved Call[T]
	notes    *notebook
	reads    []Read
}

func (c *claim[T]) resolve(ctx context.Context) (*opening[T], error) {
	resolved, notes, err := c.resolved(ctx)
	if err != nil {
		return nil, err
	}
	reads, err := notes.pages()
	return &opening[T]{c, resolved, notes, reads}, err
}

// makeResolved computes claims with known inputs: first those that no other process
// computes, then the rest one by one.
func (b *batch[T]) makeResolved(ctx context.Context, claims []*claim[T]) {
	var free, shared, busy []*claim[T]
	var keys []key.Key // keys of shared
	for _, c := range claims {
		if c.MemoryOnly {
			free = append(free, c)
		} else {
			shared, keys = append(shared, c), append(keys, c.key)
		}
	}
	lent, release, err := b.larder.tryLease(ctx, keys)
	if err != nil {
		for _, c := range claims {
			c.made.Err = fmt.Errorf("larder: %s: %w", c.Action.Op().Name(), err)
		}
		return
	}
	var leased []*claim[T]
	for i, c := range shared {
		if lent[i] {
			leased = append(leased, c)
		} else {
			busy = append(busy, c)
		}
	}
	b.makeLeased(ctx, slices.Grow(free, len(leased)), leased, release)
	for _, c := range busy {
		c.made.Value, c.made.Err = singleflight.Protect(func() (outcome, error) { return c.make(ctx, b.larder, c.key) })
	}
}

// makeLeased computes what no other process can be computing.
func (b *batch[T]) makeLeased(ctx context.Context, todo, leased []*claim[T], release func()) {
	defer release()
	if b.nothingNew() {
		b.compute(ctx, append(todo, leased...))
		return
	}
	keys := make([]key.Key, len(leased))
	for i, c := range leased {
		keys[i] = c.key
	}
	records := b.larder.records(ctx, keys) // another process may have stored them
	for i, c := range leased {
		if r, ok := c.found(ctx, b.larder, c.key, records, i, b.larder.reads.Get); ok {
			c.made.Value, c.made.Err = c.outcome(r)
		} else {
			todo = append(todo, c)
		}
	}
	b.compute(ctx, todo)
}

// nothingNew reports whether the store is known to be unchanged since the batch looked
// for its keys.
func (b *batch[T]) nothingNew() bool {
	if !b.looked {
		return false
	}
	now, _ := b.larder.changes(true)
	return now == b.before
}

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
	at := desk{text: (*text)[:0], changed: onceEach()}
	records := make([]store.Record, 0, len(claims))
	for _, c := range claims {
		if c.ran {
			c.take(ctx, b.larder, &at)
		}
		if c.kept.record != nil {
			records = append(records, *c.kept.record)
		}
	}
	*text = at.text
	inStore := b.larder.put(ctx, records...)
	for _, c := range claims {
		if c.kept.record != nil && inStore && len(c.record.Payload) <= smallPayload {
			continue
		}
		c.kept.entry = clone(c.kept.entry) // a pointer into the claim would retain all claims
		c.rememberSettled(b.larder, c.kept)
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
func (c *claim[T]) take(ctx context.Context, l *Larder, at *desk) {
	at.entry, at.record = &c.entry, &c.record
	s, err := c.settle(ctx, l, c.key, c.raw, at)
	if c.made = (singleflight.Made[outcome]{Value: s.outcome, Err: err}); err == nil {
		c.kept = s
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
			err = fmt.Errorf("larder: a batch of %d was asked for, and %d values were returned", len(claims), len(values))
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
