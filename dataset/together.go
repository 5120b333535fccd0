package dataset

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/internal/proc/timing"
	"github.com/larder-data/larder/pool"
)

// Make sees to it that the items of samples have been made, of those that are kept
// all that one node makes together: looked up in one pass, and kept by one write; and
// those of makers that take several samples at once ([MakerFunc]), kept or not, with
// what they read of such makers.
// It does so for the first n samples, one at least: others it leaves to whoever
// asks for them, as those before took some milliseconds. An error is that of the
// sample after these. What else is not kept is not made.
func Make(ctx context.Context, samples []Sample) (n int, err error) {
	n, of, err := makeFirst(ctx, samples)
	if err != nil {
		of.told()
	}
	if n == 0 && err == nil && len(samples) > 0 {
		return 1, nil // it is made when it is asked for
	}
	return n, err
}

// makeFirst is [Make], for the first n samples or none, and an error that the making
// it is of hands out again.
func makeFirst(ctx context.Context, samples []Sample) (n int, of *Making, err error) {
	n = len(samples)
	for _, group := range together(samples) {
		made, gerr := group.make(ctx)
		if made < len(group.makings) {
			if at := group.samples[made]; at < n || gerr != nil && at == n {
				n, of, err = at, group.makings[made], gerr
			}
		}
	}
	return n, of, err
}

// ahead makes items of samples before they are read one by one, and returns for how
// many samples that need not be done again: who reads an item that could not be made
// gets the error.
func ahead(ctx context.Context, samples []Sample) (n int) {
	n, _, err := makeFirst(ctx, samples)
	if err != nil {
		n++
	}
	return n
}

// told forgets an error that somebody was told.
func (m *Making) told() {
	if m.turn.tryTake() {
		m.failed = nil
		m.unlock()
	}
}

// Ranges hands out consecutive samples of a dataset once [Make] has been done for
// them. It may be used by many goroutines, who take each sample once.
type Ranges struct {
	of    Dataset[Sample]
	batch int // of
	mu    sync.Mutex
	left  map[int]Sample // that were asked for and not come to: some of what makes them may be done
}

// RangesOf returns the ranges of a dataset.
func RangesOf(ds Dataset[Sample]) *Ranges {
	return &Ranges{of: ds, batch: BatchOf(ds), left: map[int]Sample{}}
}

// Range returns the samples from one up to another, as many as it comes to within
// some milliseconds, and one at least, or if there are as many, those that are made
// together ([BatchOf]). The error is that of the sample after these.
func (r *Ranges) Range(ctx context.Context, from, to int) (samples []Sample, err error) {
	start := time.Now()
	for i := from; i < to && (i < from+max(1, r.batch) || time.Since(start) < pool.Patience); i++ {
		s, serr := r.at(ctx, i)
		if serr != nil {
			err = serr
			break
		}
		samples = append(samples, s)
	}
	n, merr := Make(ctx, samples)
	if n < len(samples) {
		r.leave(from+n, samples[n:])
		err = merr
	}
	return samples[:n], err
}

func (r *Ranges) at(ctx context.Context, i int) (Sample, error) {
	r.mu.Lock()
	s, ok := r.left[i]
	delete(r.left, i)
	r.mu.Unlock()
	if ok {
		return s, nil
	}
	return r.of.At(ctx, i)
}

func (r *Ranges) leave(from int, samples []Sample) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, s := range samples {
		r.left[from+i] = s
	}
}

// group is executions of one node on several samples.
type group struct {
	makings []*Making
	samples []int // of which
}

// together lists the executions that items of samples come from, those of a node
// together.
func together(samples []Sample) (all []*group) {
	for i, s := range samples {
		for _, m := range s.Makings() {
			k := slices.IndexFunc(all, func(g *group) bool { return g.makings[0].node.is(m.node) })
			if k < 0 {
				k, all = len(all), append(all, &group{make([]*Making, 0, len(samples)-i), make([]int, 0, len(samples)-i)})
			}
			all[k].makings, all[k].samples = append(all[k].makings, m), append(all[k].samples, i)
		}
	}
	return all
}

// is reports whether two are the same use of one mapper, which an operator may apply
// to each sample by itself.
func (d *mapped) is(o *mapped) bool {
	if d == o {
		return true
	}
	return d.Node == o.Node && d.Larder == o.Larder && d.batches() && sameMaker(d.maker, o.maker)
}

func sameMaker(a, b Maker) bool {
	switch a := a.(type) {
	case *maker:
		return a == b
	case *chain:
		return a == b
	}
	return false
}

// make makes what is kept, or made in batches, and was not made before, and returns how
// many executions, from the first on, are done: an error is that of the next. What
// another goroutine is at is left to that.
func (g *group) make(ctx context.Context) (done int, err error) {
	b := larder.Batch[*made]{Patience: pool.Patience, Calls: make([]larder.Call[*made], 0, len(g.makings))}
	at := make([]int, 0, len(g.makings)) // of each call, in makings
	var loose []int                      // that are not kept
	inBatches := g.makings[0].node.batches() && !larder.IsDry(ctx)
	done = len(g.makings)
	for i, m := range g.makings {
		if !m.turn.tryTake() {
			continue
		}
		defer m.unlock()
		if m.failed != nil {
			done, err = i, m.failed
			break
		}
		if !m.keep && !m.done && inBatches {
			loose = append(loose, i)
		}
		if !m.keep || m.done && m.kept {
			continue
		}
		a, derr := m.describe(ctx)
		if derr != nil {
			done, err = i, derr
			break
		}
		b.Calls, at = append(b.Calls, m.call(a)), append(at, i)
	}
	note := func(i int, merr error) {
		if g.makings[i].noteFailed(ctx, merr); i < done {
			if done, err = i, merr; errors.Is(merr, larder.ErrDeferred) {
				err = nil
			}
		}
	}
	if len(at) > 0 {
		g.makeKept(ctx, b, at, note)
	}
	if len(loose) > 0 {
		g.makeLoose(ctx, loose, note)
	}
	return done, err
}

// makeKept makes what is kept: calls, which are of executions at some places.
func (g *group) makeKept(ctx context.Context, b larder.Batch[*made], at []int, note func(int, error)) {
	b.Prepare = func(ctx context.Context, calls []int) { g.prepare(ctx, at, calls) }
	if batchOf(g.makings[0].node.maker) > 1 {
		had := map[int]Sample{} // who computes has no turns, as in [Making.call]
		for c, i := range at {
			if m := g.makings[i]; m.done { // it was made before it was to be kept
				had[c] = m.out
			}
		}
		b.Compute = func(ctx context.Context, missing []int) ([]*made, error) { return g.compute(ctx, at, missing, had) }
	}
	node := g.makings[at[0]].node
	ctx, leave := timing.Enter(ctx, timing.Keep, node.Node)
	defer leave()
	results, errs := b.Do(ctx, node.Larder)
	for j, i := range at {
		m, merr := g.makings[i], error(nil)
		if errs != nil {
			merr = errs[j]
		}
		if merr == nil {
			merr = m.take(b.Calls[j].Action, results[j])
		}
		if m.done = merr == nil; !m.done {
			note(i, merr)
		}
		m.letGo()
	}
}

// compute makes what is kept of those calls that are missing, in batches, but for the
// samples that some had.
func (g *group) compute(ctx context.Context, at, missing []int, had map[int]Sample) ([]*made, error) {
	var run []*Making
	for _, c := range missing {
		if _, ok := had[c]; !ok {
			run = append(run, g.makings[at[c]])
		}
	}
	j := &joint{}
	if len(run) > 0 {
		j = runJointly(ctx, run)
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	values, failed, next := make([]*made, len(missing)), map[int]error{}, 0
	for k, c := range missing {
		out, ok := had[c]
		var err error
		if !ok {
			out, err = j.outs[next], j.errs[next]
			next++
		}
		if err == nil {
			values[k], err = g.makings[at[c]].packed(ctx, out)
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

// makeLoose makes what is not kept but is made in batches, or else what it reads of
// what is.
func (g *group) makeLoose(ctx context.Context, at []int, note func(int, error)) {
	makings := make([]*Making, len(at))
	for j, i := range at {
		makings[j] = g.makings[i]
	}
	by, ok := makings[0].node.maker.(*maker)
	if !ok || by.f.Batch <= 1 {
		reads := make([]Sample, len(at))
		for j, m := range makings {
			reads[j] = m.read()
		}
		if n := ahead(ctx, reads); n < len(at) {
			note(at[n], larder.ErrDeferred)
		}
		return
	}
	for j, r := 0, runJointly(ctx, makings); j < len(at); j++ {
		if r.errs[j] != nil {
			note(at[j], r.errs[j])
			continue
		}
		makings[j].out, makings[j].done = r.outs[j], true
		makings[j].letGo()
	}
}

// prepare makes what calls need to know their inputs by content.
func (g *group) prepare(ctx context.Context, at, calls []int) {
	inputs := make([]Sample, len(calls))
	for j, c := range calls {
		inputs[j] = g.makings[at[c]].in
	}
	ahead(ctx, inputs) // an error is met again
}

// noteFailed notes an error for whoever asks first.
func (m *Making) noteFailed(ctx context.Context, err error) {
	if ctx.Err() == nil && !errors.Is(err, larder.ErrDeferred) && !errors.Is(err, larder.ErrDry) && !errors.Is(err, context.Canceled) {
		m.failed = err
	}
}
