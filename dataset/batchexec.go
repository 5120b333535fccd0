package dataset

import (
	"context"
	"errors"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/internal/proc/singleflight"
	"github.com/larder-data/larder/internal/proc/timing"
	"github.com/larder-data/larder/pool"
)

// A batchRun is a set of executions of one node that run together. Their locks are held,
// and each ends with a result or an error.
type batchRun struct {
	executions []*Execution
	outs       []Sample
	errs       []error
}

// runBatches runs executions of one node, in batches as large as the transform takes.
// After a failure, or after some milliseconds, the rest get [larder.ErrDeferred].
func runBatches(ctx context.Context, executions []*Execution) *batchRun {
	b := &batchRun{executions, make([]Sample, len(executions)), make([]error, len(executions))}
	if by, ok := executions[0].node.transform.(*funcTransform); ok {
		b.inBatches(ctx, max(1, by.f.Batch))
	} else {
		b.inSteps(ctx)
	}
	return b
}

// inBatches executes a transform of n samples at a time. A batch that fails without
// naming a sample is split in halves, each tried once. So a sample is executed at most
// log2(n) times more than necessary, even if all fail.
func (b *batchRun) inBatches(ctx context.Context, n int) {
	start := time.Now()
	for from := 0; from < len(b.executions); {
		to := b.batchFrom(from, n)
		whole := b.batch(ctx, from, to)
		if whole != nil && to-from > 1 && ofOneSample(ctx, whole) {
			for _, e := range b.executions[from:to] {
				e.most.Store(int32((to - from) / 2))
			}
			continue
		}
		if whole != nil {
			b.failAll(ctx, from, to, whole)
		}
		if b.failedIn(from, to) || time.Since(start) >= pool.Patience {
			b.deferFrom(to)
			return
		}
		from = to
	}
}

// batchFrom returns the end of the batch of at most n that begins at from.
func (b *batchRun) batchFrom(from, n int) (to int) {
	for to = from; to < len(b.executions) && to-from < n; to++ {
		if most := int(b.executions[to].most.Load()); most > 0 {
			if n = min(n, most); to-from >= n {
				break
			}
		}
	}
	return to
}

// ofOneSample reports whether an error of several samples may be caused by one of them,
// so that the others can succeed.
func ofOneSample(ctx context.Context, err error) bool {
	return ctx.Err() == nil && !errors.Is(err, ErrChanged) && !errors.Is(err, larder.ErrNotCached) && !errors.Is(err, context.Canceled)
}

// inSteps executes a chain with a step that takes several samples together. These steps
// run first, on all samples.
func (b *batchRun) inSteps(ctx context.Context) {
	steps := make([]Sample, len(b.executions))
	for i, e := range b.executions {
		steps[i] = e.read()
	}
	n := max(1, ahead(ctx, steps))
	for i, e := range b.executions[:n] {
		if b.outs[i], b.errs[i] = e.run(ctx); b.errs[i] != nil {
			n = i + 1
			break
		}
	}
	b.deferFrom(n)
}

func (b *batchRun) failedIn(from, to int) bool {
	for _, err := range b.errs[from:to] {
		if err != nil {
			return true
		}
	}
	return false
}

func (b *batchRun) deferFrom(from int) {
	for i := from; i < len(b.errs); i++ {
		b.errs[i] = larder.ErrDeferred
	}
}

func (b *batchRun) failAll(ctx context.Context, from, to int, err error) {
	for i, e := range b.executions[from:to] {
		if ctx.Err() == nil {
			e.node.Stats.Failed.Add(1)
		}
		b.errs[from+i] = e.fail(err)
	}
}

// batch executes the transform once. It returns an error that is not specific to a
// sample; there are no results then.
func (b *batchRun) batch(ctx context.Context, from, to int) (whole error) {
	executions := b.executions[from:to]
	d := executions[0].node
	if larder.IsCachedOnly(ctx) {
		return larder.ErrNotCached
	}
	if d.Slots != nil {
		if err := d.Slots.Acquire(ctx, 1); err != nil {
			return context.Cause(ctx)
		}
		defer d.Slots.Release(1)
	}
	start := time.Now()
	outs, err := singleflight.Protect(func() ([]Sample, error) { return mapTogether(ctx, executions) })
	d.Stats.nanos.Add(int64(time.Since(start)))
	failed, whole := partOf(err, len(executions))
	if whole != nil {
		return whole
	}
	for i, e := range executions {
		err := failed[i]
		if err == nil {
			err = e.check(ctx, outs[i])
		}
		switch {
		case err == nil:
			b.outs[from+i] = outs[i]
			e.node.Stats.Computed.Add(1)
			e.node.Stats.hand(e.node.handed, e.index, computed)
			continue
		case ctx.Err() == nil && !errors.Is(err, larder.ErrDeferred):
			e.node.Stats.Failed.Add(1)
		}
		b.errs[from+i] = e.fail(err)
	}
	return nil
}

// mapTogether calls the transform.
func mapTogether(ctx context.Context, executions []*Execution) ([]Sample, error) {
	ins, places := make([]Sample, len(executions)), make([]Place, len(executions))
	for i, e := range executions {
		ins[i], places[i] = e.in, e.place()
	}
	ctx, leave := timing.Enter(ctx, timing.Map, executions[0].node.Node)
	defer leave()
	ctx, done := using(withPlaces(ctx, places...), ins...)
	defer done()
	return executions[0].node.transform.(*funcTransform).mapTogether(withRand(ctx, nil), ins)
}
