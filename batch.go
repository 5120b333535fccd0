package larder

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/larder-data/larder/internal/proc/singleflight"
	"github.com/larder-data/larder/key"
)

// A Batch runs several calls together. It looks up cached results in one pass over the
// store, claims the missing keys together, computes them, and stores them in one write.
//
// A result of at most 1 KiB that a batch computed and stored enters memory only when it
// is requested again.
//
// The guarantees of each call hold. A key is computed at most once at a time over all
// goroutines and processes, whatever batches contain it. A batch computes the keys that
// it claimed before it waits for keys that others claimed. So overlapping batches do
// not wait for each other, whatever the order of their keys.
//
// But a caller that needs one result of a batch waits for all that are computed with
// it. So the computation of a batch must not request a key of another batch that needs
// a key of this one. The error is [ErrCycle].
type Batch[T any] struct {
	// Calls run in their order. Calls with equal keys run once.
	Calls []Call[T]
	// Compute, if not nil, replaces the calls' own Compute. It receives the positions
	// of the missing calls and returns their values in that order. What it reads
	// through the engine counts for each of them, and each is charged an equal part of
	// the time. After a *[PartialError] the values of the other calls are valid; calls
	// with [ErrDeferred] were not begun.
	Compute func(ctx context.Context, missing []int) ([]T, error)
	// Prepare, if not nil, receives the positions of the calls that are about to be
	// resolved, before their Resolve runs one after another. It can prepare in one step
	// what these need.
	Prepare func(ctx context.Context, calls []int)
	// Patience bounds the time during which the calls' own Compute are begun, one after
	// another; 0 means no bound. Later calls return [ErrDeferred].
	Patience time.Duration
}

// ErrDeferred is the error of a call of a [Batch] that was not begun, because an
// earlier one failed or the earlier ones took longer than Patience.
var ErrDeferred = errors.New("larder: not computed, because an earlier call of the batch failed or took too long; request it again")

// A PartialError is the error of a batch's Compute that failed for some calls only.
type PartialError struct {
	Errs map[int]error // by position in the values of Compute
}

func (e *PartialError) Error() string {
	for i, err := range e.Errs {
		return fmt.Sprintf("%d of the batch failed, as number %d: %v", len(e.Errs), i, err)
	}
	return "nothing failed"
}

// Do returns a result for each call. It also returns an error for each call if any
// failed, else nil.
func (b Batch[T]) Do(ctx context.Context, l *Larder) ([]Result[T], []error) {
	r := &batch[T]{Batch: b, larder: l, results: make([]Result[T], len(b.Calls)), first: make(map[key.Key]int, len(b.Calls))}
	r.do(ctx)
	for i, c := range b.Calls {
		if err := c.report(ctx, r.results[i], r.err(i)); err != nil {
			r.results[i] = Result[T]{}
		}
	}
	return r.results, r.errs
}

// batch is the state of a Batch while it runs.
type batch[T any] struct {
	Batch[T]
	larder  *Larder
	results []Result[T]
	errs    []error         // nil if no call failed
	first   map[key.Key]int // first call of each key
	same    []int           // calls whose key an earlier call has
	outs    map[int]outcome // outcomes of computed calls, if same is not empty

	looked bool   // find used a store that counts its changes
	before uint64 // the count at that time
}

func (b *batch[T]) fail(i int, err error) {
	if err == nil {
		return
	}
	if b.errs == nil {
		b.errs = make([]error, len(b.Calls))
	}
	b.errs[i] = err
}

func (b *batch[T]) err(i int) error {
	if b.errs == nil {
		return nil
	}
	return b.errs[i]
}

func (b *batch[T]) key(i int) key.Key { return b.Calls[i].Action.Key() }

func (b *batch[T]) do(ctx context.Context) {
	todo := make([]int, 0, len(b.Calls))
	for i := range b.Calls {
		c := &b.Calls[i]
		if err := c.complete(); err != nil {
			b.fail(i, err)
			continue
		}
		k := c.Action.Key()
		if _, before := b.first[k]; before {
			b.same = append(b.same, i)
			continue
		}
		b.first[k] = i
		if r, ok := c.findInMemory(ctx, b.larder, k); ok {
			b.results[i] = r
			continue
		}
		todo = append(todo, i)
	}
	todo = b.find(ctx, todo)
	if IsCachedOnly(ctx) {
		b.eachAlone(ctx, todo)
	} else if len(todo) > 0 {
		b.eachAlone(ctx, b.computeMissing(ctx, todo))
	}
	for _, i := range b.same {
		b.again(ctx, i)
	}
}

// again returns to a call the outcome of the earlier call with its key.
func (b *batch[T]) again(ctx context.Context, i int) {
	at := b.first[b.key(i)]
	if err := b.err(at); err != nil {
		b.fail(i, err)
		return
	}
	c := b.Calls[i]
	if o, ok := b.outs[at]; ok {
		r, err := c.deliver(b.key(i), o, true, nil)
		b.results[i] = r
		b.fail(i, err)
		return
	}
	if c.shareable() {
		b.results[i] = b.results[at]
		return
	}
	b.eachAlone(ctx, []int{i})
}

// find looks up calls in the store in one pass, and returns the missing ones.
func (b *batch[T]) find(ctx context.Context, todo []int) (missing []int) {
	if context.Cause(ctx) != nil {
		return todo
	}
	keys, asked := make([]key.Key, 0, len(todo)), make([]int, 0, len(todo))
	for _, i := range todo {
		if b.Calls[i].MemoryOnly {
			missing = append(missing, i)
			continue
		}
		keys, asked = append(keys, b.key(i)), append(asked, i)
	}
	before, ok := b.larder.changes(false)
	records := b.larder.records(ctx, keys)
	b.before, b.looked = before, ok && records != nil
	for j, i := range asked {
		r, ok := b.Calls[i].found(ctx, b.larder, keys[j], records, j, b.larder.reads.GetWithoutRefresh)
		if !ok {
			missing = append(missing, i)
			continue
		}
		b.results[i] = r
		b.fail(i, b.Calls[i].verify(ctx, b.larder, r))
	}
	return missing
}

// computeMissing computes the missing calls, and returns those that other goroutines already
// compute.
func (b *batch[T]) computeMissing(ctx context.Context, todo []int) (others []int) {
	keys := make([]key.Key, len(todo))
	for j, i := range todo {
		keys[j] = b.key(i)
	}
	made, claimed, err := b.larder.flight.DoMany(ctx, keys, b.Calls[todo[0]].Action.Op().Name(),
		func(ctx context.Context, claimed []int) []singleflight.Made[outcome] {
			mine, buffer := make([]*claim[T], len(claimed)), make([]claim[T], len(claimed))
			for n, j := range claimed {
				buffer[n] = claim[T]{Call: &b.Calls[todo[j]], at: todo[j], key: keys[j]}
				mine[n] = &buffer[n]
			}
			return b.computeClaimed(ctx, mine)
		})
	if err != nil {
		for _, i := range todo {
			_, err := b.Calls[i].deliver(b.key(i), outcome{}, false, err)
			b.fail(i, err)
		}
		return nil
	}
	next := 0
	for j, i := range todo {
		if next == len(claimed) || claimed[next] != j {
			others = append(others, i)
			continue
		}
		m := made[next]
		next++
		r, err := b.Calls[i].deliver(keys[j], m.Value, false, m.Err)
		b.results[i] = r
		b.fail(i, err)
		if len(b.same) > 0 && err == nil {
			if b.outs == nil {
				b.outs = map[int]outcome{}
			}
			b.outs[i] = m.Value
		}
	}
	return others
}

func (b *batch[T]) eachAlone(ctx context.Context, todo []int) {
	for _, i := range todo {
		r, err := b.Calls[i].do(ctx, b.larder, b.key(i))
		b.results[i] = r
		b.fail(i, err)
	}
}
