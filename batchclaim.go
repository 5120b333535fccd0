package larder

import (
	"context"
	"fmt"
	"slices"

	"github.com/larder-data/larder/internal/proc/singleflight"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// claim is a call of a batch that no other caller of this process runs. Its computation
// may outlive the caller of the batch.
//
// A claim begins without an outcome. Either made is set to a value that was found or to
// an error, or the value is computed: ran and raw are set. Settling a computed value sets
// made, and cached if the value may be cached.
type claim[T any] struct {
	*Call[T]
	at     int // position in the batch's Calls
	key    key.Key
	made   singleflight.Made[outcome]
	ran    bool        // whether it was computed
	raw    computed[T] // result of the computation
	cached settled[T]  // result to cache, if any

	entry  entry // memory for that of cached
	record store.Record
}

func positions[T any](claims []*claim[T]) []int {
	at := make([]int, len(claims))
	for i, c := range claims {
		at[i] = c.at
	}
	return at
}

// computeClaimed computes claims and returns their outcomes in the same order.
func (b *batch[T]) computeClaimed(ctx context.Context, claims []*claim[T]) []singleflight.Made[outcome] {
	var resolved, unresolved []*claim[T]
	for _, c := range claims {
		if c.Action.Resolved() {
			resolved = append(resolved, c)
		} else {
			unresolved = append(unresolved, c)
		}
	}
	b.computeUnresolved(ctx, unresolved)
	b.computeResolved(ctx, resolved)
	made := make([]singleflight.Made[outcome], len(claims))
	for i, c := range claims {
		made[i] = c.made
	}
	return made
}

// computeUnresolved computes claims whose inputs are not yet identified by content: see
// [Call.computeResolved].
func (b *batch[T]) computeUnresolved(ctx context.Context, claims []*claim[T]) {
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

// computeResolved computes claims with known inputs: first those that no other process
// computes, then the rest one by one.
func (b *batch[T]) computeResolved(ctx context.Context, claims []*claim[T]) {
	var free, shared, busy []*claim[T]
	var keys []key.Key // keys of shared
	for _, c := range claims {
		if c.MemoryOnly {
			free = append(free, c)
		} else {
			shared, keys = append(shared, c), append(keys, c.key)
		}
	}
	acquired, release, err := b.larder.tryLease(ctx, keys)
	if err != nil {
		for _, c := range claims {
			c.made.Err = fmt.Errorf("larder: %s: %w", c.Action.Op().Name(), err)
		}
		return
	}
	var leased []*claim[T]
	for i, c := range shared {
		if acquired[i] {
			leased = append(leased, c)
		} else {
			busy = append(busy, c)
		}
	}
	b.computeLeased(ctx, slices.Grow(free, len(leased)), leased, release)
	for _, c := range busy {
		c.made.Value, c.made.Err = singleflight.Protect(func() (outcome, error) { return c.computeOnce(ctx, b.larder, c.key) })
	}
}

// computeLeased computes what no other process can be computing.
func (b *batch[T]) computeLeased(ctx context.Context, todo, leased []*claim[T], release func()) {
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
