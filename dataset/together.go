package dataset

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/pool"
)

// Make sees to it that the items of samples have been made, of those that are kept
// all that one node makes together: looked up in one pass, and kept by one write.
// It does so for the first n samples, one at least: others it leaves to whoever
// asks for them, as those before took some milliseconds. An error is that of the
// sample after these. What is not kept is not made.
func Make(ctx context.Context, samples []Sample) (n int, err error) {
	n = len(samples)
	for _, group := range together(samples) {
		made, gerr := group.make(ctx)
		if made < len(group.makings) {
			if at := group.samples[made]; at < n || gerr != nil && at == n {
				n, err = at, gerr
			}
		}
	}
	if n == 0 && err == nil && len(samples) > 0 {
		return 1, nil // it is made when it is asked for
	}
	return n, err
}

// Ranges hands out consecutive samples of a dataset once [Make] has been done for
// them. It may be used by many goroutines, who take each sample once.
type Ranges struct {
	of   Dataset[Sample]
	mu   sync.Mutex
	left map[int]Sample // that were asked for and not come to: some of what makes them may be done
}

// RangesOf returns the ranges of a dataset.
func RangesOf(ds Dataset[Sample]) *Ranges { return &Ranges{of: ds, left: map[int]Sample{}} }

// Range returns the samples from one up to another, as many as it comes to within
// some milliseconds, and one at least. The error is that of the sample after these.
func (r *Ranges) Range(ctx context.Context, from, to int) (samples []Sample, err error) {
	start := time.Now()
	for i := from; i < to && (i == from || time.Since(start) < pool.Patience); i++ {
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
			k := slices.IndexFunc(all, func(g *group) bool { return g.makings[0].node == m.node })
			if k < 0 {
				k, all = len(all), append(all, &group{make([]*Making, 0, len(samples)-i), make([]int, 0, len(samples)-i)})
			}
			all[k].makings, all[k].samples = append(all[k].makings, m), append(all[k].samples, i)
		}
	}
	return all
}

// make makes what is kept and was not made before, and returns how many executions,
// from the first on, are done: an error is that of the next. What another goroutine
// is at is left to that.
func (g *group) make(ctx context.Context) (done int, err error) {
	b := larder.Batch[*made]{Patience: pool.Patience, Calls: make([]larder.Call[*made], 0, len(g.makings))}
	at := make([]int, 0, len(g.makings)) // of each call, in makings
	done = len(g.makings)
	for i, m := range g.makings {
		if !m.turn.tryTake() {
			continue
		}
		defer m.unlock()
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
	if len(at) == 0 {
		return done, err
	}
	b.Prepare = func(ctx context.Context, calls []int) { g.prepare(ctx, at, calls) }
	results, errs := b.Do(ctx, g.makings[at[0]].node.Larder)
	for j, i := range at {
		m, merr := g.makings[i], error(nil)
		if errs != nil {
			merr = errs[j]
		}
		if merr == nil {
			merr = m.take(b.Calls[j].Action, results[j])
		}
		if m.done = merr == nil; !m.done && i < done {
			if done, err = i, merr; errors.Is(merr, larder.ErrDeferred) {
				err = nil
			}
		}
	}
	return done, err
}

// prepare makes what calls need to know their inputs by content.
func (g *group) prepare(ctx context.Context, at, calls []int) {
	inputs := make([]Sample, len(calls))
	for j, c := range calls {
		inputs[j] = g.makings[at[c]].in
	}
	_, _ = Make(ctx, inputs) // an error is met again
}
