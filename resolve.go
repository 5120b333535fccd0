package larder

import (
	"context"
	"fmt"
	"slices"

	"github.com/larder-data/larder/internal/proc/singleflight"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// computeResolved tries the content-addressed key, and stores a link to the value under
// the input-addressed key.
func (c Call[T]) computeResolved(ctx context.Context, l *Larder, k key.Key) (outcome, error) {
	resolved, read, err := c.resolved(ctx)
	if err != nil {
		return outcome{}, err
	}
	reads, err := read.pages()
	if err != nil {
		return outcome{}, err
	}
	r, err := resolved.Do(ctx, l)
	if err != nil {
		return outcome{}, err
	}
	o, link, err := c.resolvedOutcome(ctx, l, k, resolved, r, reads, read, func(Result[T]) bool { return true })
	if link != nil {
		l.put(ctx, *link)
	}
	return o, err
}

// resolved returns the call with its inputs by content, and the dependencies of these
// inputs.
func (c Call[T]) resolved(ctx context.Context) (Call[T], *notebook, error) {
	if c.Resolve == nil {
		return c, nil, fmt.Errorf("larder: %s: inputs are not resolved and the call has no Resolve", c.Action.Op().Name())
	}
	read := new(notebook)
	inputs, err := singleflight.Protect(func() ([]key.Input, error) { return c.Resolve(withNotebook(ctx, read)) })
	if err != nil {
		return c, nil, err
	}
	name := c.Action.Op().Name()
	c.Action, c.Resolve = c.Action.WithInputs(inputs), nil
	if !c.Action.Resolved() {
		err = fmt.Errorf("larder: %s: Resolve left inputs without content", name)
	}
	return c, read, err
}

// resolvedOutcome returns the outcome under k if the resolved call returned r, and the
// link to store.
func (c Call[T]) resolvedOutcome(ctx context.Context, l *Larder, k key.Key, resolved Call[T], r Result[T], reads []Read, read *notebook, remembers func(Result[T]) bool) (o outcome, link *store.Record, err error) {
	if r.Uncached == nil {
		r.Uncached = read.checkUnchanged()
	}
	if !c.MemoryOnly && r.Uncached == nil {
		if link, err = c.link(ctx, l, k, resolved.Action.Key(), r, reads); err != nil {
			return o, nil, err
		}
	}
	r.Reads = slices.Concat(reads, r.Reads)
	o, err = c.outcome(r)
	if err == nil && len(r.Reads) == 0 && r.Uncached == nil && remembers(r) {
		c.putInMemory(l, k, o.entry, r.Value, true)
	}
	return o, link, err
}

// link returns the record that leads from k to the value. It is guarded by the
// dependencies of the inputs.
func (c Call[T]) link(ctx context.Context, l *Larder, k, resolved key.Key, r Result[T], reads []Read) (*store.Record, error) {
	if len(reads) > 0 {
		var err error
		if k, err = l.putRecorded(ctx, c.Action, k, reads, true, r.Cost); err != nil {
			return nil, err
		}
	}
	target := r.Key
	if len(r.Reads) > 0 {
		target = resolved // it has recorded inputs to check
	}
	return &store.Record{Key: k, Link: target, Type: c.Value.Type, Cost: r.Cost, Provenance: l.appendProvenance(ctx, nil, c.Action, reads)}, nil
}
