package dataset

import (
	"context"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/internal/proc/timing"
	"github.com/larder-data/larder/key"
)

// recall returns the result from the larder, which runs the transform on a miss. The
// lock is held.
func (e *Execution) recall(ctx context.Context) error {
	a, err := e.describe(ctx)
	if err != nil {
		return err
	}
	ctx, leave := timing.Enter(ctx, timing.Keep, e.node.Node)
	defer leave()
	r, err := e.call(a).Do(ctx, e.node.Larder)
	if err != nil {
		return err
	}
	return e.take(a, r)
}

// call describes how the result is looked up or computed. The lock is held now, but
// perhaps not during the computation, because the caller may leave before it ends.
func (e *Execution) call(a *key.Action) larder.Call[*made] {
	compute := e.pack
	if e.done { // it was computed before it was marked to be cached
		out := e.out
		compute = func(ctx context.Context) (*made, error) { return e.packed(ctx, out) }
	}
	return larder.Call[*made]{Action: a, Compute: compute, Resolve: e.resolve, Value: madeValue, Share: true}
}

// take stores the result. The lock is held.
func (e *Execution) take(a *key.Action, r larder.Result[*made]) error {
	e.node.Stats.countCall(e.node.handed, e.index, r.From, r.Bytes, r.Cost)
	e.node.Stats.note(r.Reads, r.Uncached)
	out, err := r.Value.open(e.in)
	if err != nil {
		return e.fail(err)
	}
	if computed := e.computed.Swap(nil); computed != nil && !e.lean {
		out.adopt(*computed)
	}
	e.out, e.cached, e.cost = out, true, r.Cost
	if e.node.Cached != nil {
		e.node.Cached(e.index, r.Key, a.Key())
	}
	return nil
}

// pack is the computation whose result is cached.
func (e *Execution) pack(ctx context.Context) (*made, error) {
	out, err := e.run(ctx)
	if err != nil {
		return nil, err
	}
	return e.packed(ctx, out)
}

// packed encodes the result for the cache.
func (e *Execution) packed(ctx context.Context, out Sample) (*made, error) {
	p, err := newMade(ctx, e.in, out)
	if err != nil {
		return nil, e.fail(err)
	}
	e.computed.Store(&out)
	return p, nil
}
