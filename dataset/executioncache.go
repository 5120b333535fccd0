package dataset

import (
	"context"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/internal/proc/timing"
	"github.com/larder-data/larder/key"
)

// recall returns the result from the larder, which runs the transform on a miss. The
// lock is held.
func (m *Making) recall(ctx context.Context) error {
	a, err := m.describe(ctx)
	if err != nil {
		return err
	}
	ctx, leave := timing.Enter(ctx, timing.Keep, m.node.Node)
	defer leave()
	r, err := m.call(a).Do(ctx, m.node.Larder)
	if err != nil {
		return err
	}
	return m.take(a, r)
}

// call describes how the result is looked up or computed. The lock is held now, but
// perhaps not during the computation, because the caller may leave before it ends.
func (m *Making) call(a *key.Action) larder.Call[*made] {
	compute := m.pack
	if m.done { // it was computed before it was marked to be cached
		out := m.out
		compute = func(ctx context.Context) (*made, error) { return m.packed(ctx, out) }
	}
	return larder.Call[*made]{Action: a, Compute: compute, Resolve: m.resolve, Value: madeValue, Share: true}
}

// take stores the result. The lock is held.
func (m *Making) take(a *key.Action, r larder.Result[*made]) error {
	m.node.Tally.countCall(m.node.handed, m.index, r.From, r.Bytes, r.Cost)
	m.node.Tally.note(r.Reads, r.Unkept)
	out, err := r.Value.open(m.in)
	if err != nil {
		return m.fail(err)
	}
	m.out, m.kept, m.cost = out, true, r.Cost
	if m.node.Kept != nil {
		m.node.Kept(m.index, r.Key, a.Key())
	}
	return nil
}
