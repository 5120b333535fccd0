package larder

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/larder-data/larder/internal/proc/singleflight"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// A Batch is several calls that are carried out together: what is kept is looked
// up in one pass over the store, what is missing is claimed at once, computed, and
// put in the store by one write.
//
// A result of at most 1 KiB that a batch made and the store took is held in memory
// once it is asked for again.
//
// All holds that holds for each call alone: a key is computed at most once at a
// time over all goroutines and processes, whatever batches it is part of. Who
// finds keys claimed by others makes its own first, and then waits; so batches
// that overlap do not wait for each other, in whatever order they name their keys.
// But whoever needs one result of a batch waits for all that are made with it: what
// computes a batch must not ask for what is computed in another batch that, for
// some other key, needs this one. [ErrCycle] tells.
type Batch[T any] struct {
	// Calls are carried out in their order. Two of one key are one.
	Calls []Call[T]
	// Compute, if not nil, makes what is missing in one go, instead of the calls'
	// own Compute: the values of those of Calls that it is given the positions
	// of, in that order. What it reads through the engine counts for each of
	// them, and each is charged with its part of the time. An error that is a
	// *[PartialError] leaves the values of the others; what it has as [ErrDeferred]
	// was not begun.
	Compute func(ctx context.Context, missing []int) ([]T, error)
	// Prepare, if not nil, is told which of Calls are about to be resolved, before
	// their Resolve is called one after another: to do in one go what these need.
	Prepare func(ctx context.Context, calls []int)
	// Patience is for how long the calls' own Compute are begun, one after
	// another; 0 means until all are done. What was not begun by then is
	// [ErrDeferred].
	Patience time.Duration
}

// ErrDeferred is the error of a call of a [Batch] that was not begun: as one
// before it failed, or as those took longer than the batch's Patience.
var ErrDeferred = errors.New("larder: not begun, as others of its batch failed or took long: ask for it again")

// A PartialError is returned by a batch's Compute that failed for some calls only.
type PartialError struct {
	Errs map[int]error // by position in what Compute returned
}

func (e *PartialError) Error() string {
	for i, err := range e.Errs {
		return fmt.Sprintf("%d of the batch failed, as number %d: %v", len(e.Errs), i, err)
	}
	return "nothing failed"
}

// Do returns a result for each call, and an error for each if any failed: nil
// means that there is none.
func (b Batch[T]) Do(ctx context.Context, l *Larder) ([]Result[T], []error) {
	r := &batch[T]{Batch: b, larder: l, results: make([]Result[T], len(b.Calls)), first: make(map[key.Key]int, len(b.Calls))}
	r.do(ctx)
	for i, c := range b.Calls {
		if err := c.told(ctx, r.results[i], r.err(i)); err != nil {
			r.results[i] = Result[T]{}
		}
	}
	return r.results, r.errs
}

// batch is a Batch that is being carried out.
type batch[T any] struct {
	Batch[T]
	larder  *Larder
	results []Result[T]
	errs    []error         // nil as long as there is none
	first   map[key.Key]int // the call of each key
	same    []int           // calls whose key is another one's
	outs    map[int]outcome // of those that were made and of which there are several

	looked bool   // find went through a store that counts what becomes known there
	before uint64 // what it had counted then
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
		if r, ok := c.remembered(ctx, b.larder, k); ok {
			b.results[i] = r
			continue
		}
		todo = append(todo, i)
	}
	todo = b.find(ctx, todo)
	if IsDry(ctx) {
		b.eachAlone(ctx, todo)
	} else if len(todo) > 0 {
		b.eachAlone(ctx, b.make(ctx, todo))
	}
	for _, i := range b.same {
		b.again(ctx, i)
	}
}

// again hands out for a call what came out for another one of its key.
func (b *batch[T]) again(ctx context.Context, i int) {
	at := b.first[b.key(i)]
	if err := b.err(at); err != nil {
		b.fail(i, err)
		return
	}
	c := b.Calls[i]
	if o, ok := b.outs[at]; ok {
		r, err := c.handOut(b.key(i), o, true, nil)
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

// find looks in the store for what is to be done, in one pass, and returns what is
// missing.
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
	before, tells := b.larder.changes(false)
	records := b.larder.records(ctx, keys)
	b.before, b.looked = before, tells && records != nil
	for j, i := range asked {
		r, ok := b.Calls[i].found(ctx, b.larder, keys[j], records, j, b.larder.reads.GetSeen)
		if !ok {
			missing = append(missing, i)
			continue
		}
		b.results[i] = r
		b.fail(i, b.Calls[i].verify(ctx, b.larder, r))
	}
	return missing
}

// records is GetMany; where the store cannot be read there is nothing.
func (l *Larder) records(ctx context.Context, keys []key.Key) []store.Record {
	if len(keys) == 0 {
		return nil
	}
	records, err := l.reads.GetMany(ctx, keys)
	if err != nil {
		l.unreadable(keys[0], err)
		return nil
	}
	return records
}

// changes counts what has become known in the store, if that tells: see
// [store.Changing].
func (l *Larder) changes(look bool) (n uint64, tells bool) {
	s, tells := l.reads.(store.Changing)
	if tells {
		n = s.Changes(look)
	}
	return n, tells
}

// found returns the value of one of the records, if there is any.
func (c Call[T]) found(ctx context.Context, l *Larder, k key.Key, records []store.Record, j int, get getter) (Result[T], bool) {
	if records == nil || records[j].Key.IsZero() {
		return Result[T]{}, false
	}
	return c.open(ctx, l, k, records[j], get, maxHops)
}

// make makes what was not found, and returns what is left to others, who are
// already at it.
func (b *batch[T]) make(ctx context.Context, todo []int) (others []int) {
	keys := make([]key.Key, len(todo))
	for j, i := range todo {
		keys[j] = b.key(i)
	}
	made, claimed, err := b.larder.flight.DoMany(ctx, keys, b.Calls[todo[0]].Action.Op().Name(),
		func(ctx context.Context, claimed []int) []singleflight.Made[outcome] {
			mine, room := make([]*claim[T], len(claimed)), make([]claim[T], len(claimed))
			for n, j := range claimed {
				room[n] = claim[T]{Call: &b.Calls[todo[j]], at: todo[j], key: keys[j]}
				mine[n] = &room[n]
			}
			return b.makeClaimed(ctx, mine)
		})
	if err != nil {
		for _, i := range todo {
			_, err := b.Calls[i].handOut(b.key(i), outcome{}, false, err)
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
		r, err := b.Calls[i].handOut(keys[j], m.Value, false, m.Err)
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

// eachAlone carries out calls one by one.
func (b *batch[T]) eachAlone(ctx context.Context, todo []int) {
	for _, i := range todo {
		r, err := b.Calls[i].do(ctx, b.larder, b.key(i))
		b.results[i] = r
		b.fail(i, err)
	}
}
