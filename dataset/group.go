package dataset

import (
	"context"
	"errors"
	"slices"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/internal/proc/timing"
	"github.com/larder-data/larder/pool"
)

// group is a set of executions of one node on several samples.
type group struct {
	executions []*Execution
	samples    []int // positions of their samples
}

// together groups the executions that compute the items of samples by node.
func together(samples []Sample) (all []*group) {
	for i, s := range samples {
		for _, e := range s.Executions() {
			k := slices.IndexFunc(all, func(g *group) bool { return g.executions[0].node.is(e.node) })
			if k < 0 {
				k, all = len(all), append(all, &group{make([]*Execution, 0, len(samples)-i), make([]int, 0, len(samples)-i)})
			}
			all[k].executions, all[k].samples = append(all[k].executions, e), append(all[k].samples, i)
		}
	}
	return all
}

// is reports whether both apply one mapper in the same way. An operator may apply it to
// each sample separately.
func (d *mapped) is(o *mapped) bool {
	if d == o {
		return true
	}
	return d.Node == o.Node && d.Larder == o.Larder && d.batches() && sameTransform(d.transform, o.transform)
}

func sameTransform(a, b Transform) bool {
	switch a := a.(type) {
	case *funcTransform:
		return a == b
	case *chain:
		return a == b
	}
	return false
}

// make runs the executions that are cached or batched and not done yet. It returns how
// many, from the first on, are done; an error belongs to the next. It skips executions
// that another goroutine is running.
func (g *group) make(ctx context.Context) (done int, err error) {
	b := larder.Batch[*made]{Patience: pool.Patience, Calls: make([]larder.Call[*made], 0, len(g.executions))}
	at := make([]int, 0, len(g.executions)) // for each call, its index in executions
	var loose []int                         // indices of executions that are not cached
	inBatches := g.executions[0].node.batches() && !larder.IsCachedOnly(ctx)
	done = len(g.executions)
	for i, e := range g.executions {
		if !e.mu.tryLock() {
			continue
		}
		defer e.mu.unlock()
		if e.failed != nil {
			done, err = i, e.failed
			break
		}
		if !e.keep && !e.done && inBatches {
			loose = append(loose, i)
		}
		if !e.keep || e.done && e.cached {
			continue
		}
		a, derr := e.describe(ctx)
		if derr != nil {
			done, err = i, derr
			break
		}
		b.Calls, at = append(b.Calls, e.call(a)), append(at, i)
	}
	note := func(i int, merr error) {
		if g.executions[i].noteFailed(ctx, merr); i < done {
			if done, err = i, merr; errors.Is(merr, larder.ErrDeferred) {
				err = nil
			}
		}
	}
	if len(at) > 0 {
		g.makeCached(ctx, b, at, note)
	}
	if len(loose) > 0 {
		g.makeUncached(ctx, loose, note)
	}
	return done, err
}

// makeCached runs cached executions; at has the index of each call in executions.
func (g *group) makeCached(ctx context.Context, b larder.Batch[*made], at []int, note func(int, error)) {
	b.Prepare = func(ctx context.Context, calls []int) { g.prepare(ctx, at, calls) }
	if batchOf(g.executions[0].node.transform) > 1 {
		had := map[int]Sample{} // the computation does not hold the locks: see [Execution.call]
		for c, i := range at {
			if e := g.executions[i]; e.done { // it was computed before it was marked to be cached
				had[c] = e.out
			}
		}
		b.Compute = func(ctx context.Context, missing []int) ([]*made, error) { return g.compute(ctx, at, missing, had) }
	}
	node := g.executions[at[0]].node
	ctx, leave := timing.Enter(ctx, timing.Keep, node.Node)
	defer leave()
	results, errs := b.Do(ctx, node.Larder)
	for j, i := range at {
		e, merr := g.executions[i], error(nil)
		if errs != nil {
			merr = errs[j]
		}
		if merr == nil {
			merr = e.take(b.Calls[j].Action, results[j])
		}
		if e.done = merr == nil; !e.done {
			note(i, merr)
		}
		e.releaseInputs()
	}
}

// compute computes the missing calls in batches, except for those with a result in had.
func (g *group) compute(ctx context.Context, at, missing []int, had map[int]Sample) ([]*made, error) {
	var run []*Execution
	for _, c := range missing {
		if _, ok := had[c]; !ok {
			run = append(run, g.executions[at[c]])
		}
	}
	b := &batchRun{}
	if len(run) > 0 {
		b = runBatches(ctx, run)
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	values, failed, next := make([]*made, len(missing)), map[int]error{}, 0
	for k, c := range missing {
		out, ok := had[c]
		var err error
		if !ok {
			out, err = b.outs[next], b.errs[next]
			next++
		}
		if err == nil {
			values[k], err = g.executions[at[c]].packed(ctx, out)
		}
		if err != nil {
			failed[k] = err
		}
	}
	if len(failed) > 0 {
		return values, &larder.PartialError{Errs: failed}
	}
	return values, nil
}

// makeUncached runs batched executions that are not cached or, for a chain, its batched
// steps.
func (g *group) makeUncached(ctx context.Context, at []int, note func(int, error)) {
	executions := make([]*Execution, len(at))
	for j, i := range at {
		executions[j] = g.executions[i]
	}
	by, ok := executions[0].node.transform.(*funcTransform)
	if !ok || by.f.Batch <= 1 {
		reads := make([]Sample, len(at))
		for j, e := range executions {
			reads[j] = e.read()
		}
		if n := ahead(ctx, reads); n < len(at) {
			note(at[n], larder.ErrDeferred)
		}
		return
	}
	for j, r := 0, runBatches(ctx, executions); j < len(at); j++ {
		if r.errs[j] != nil {
			note(at[j], r.errs[j])
			continue
		}
		executions[j].out, executions[j].done = r.outs[j], true
		executions[j].releaseInputs()
	}
}

// prepare computes what calls need to identify their inputs by content.
func (g *group) prepare(ctx context.Context, at, calls []int) {
	inputs := make([]Sample, len(calls))
	for j, c := range calls {
		inputs[j] = g.executions[at[c]].in
	}
	ahead(ctx, inputs) // the computation returns an error again
}
