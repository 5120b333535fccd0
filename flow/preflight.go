package flow

import (
	"context"
	"errors"
	"slices"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/proc/singleflight"
)

// lookAhead asks the sinks after long work whether they can store their first
// sample, before that work starts. For that it computes only what is cached.
// Below operators that choose samples nothing is known before they have run.
func (r *run) lookAhead(ctx context.Context) error {
	sinks := r.looksAhead()
	if len(sinks) == 0 {
		return nil
	}
	ahead := &run{Flow: r.Flow, RunOptions: r.RunOptions, targets: r.targets, events: r.events, ends: true}
	defer ahead.ending.Wait()
	for _, s := range r.states {
		ahead.states = append(ahead.states, &state{Node: s.Node, eager: s.eager, pinned: s.pinned, slots: s.slots, pool: s.pool})
	}
	ahead.connect()
	defer func() {
		for i, s := range ahead.states {
			r.states[i].stats.Take(&s.stats)
		}
	}()
	known := map[string]bool{}
	for i, s := range ahead.states {
		known[s.Name] = !slices.ContainsFunc(s.From, func(in Input) bool { return !known[in.Node] }) && ahead.buildWithoutComputing(ctx, r.states[i], s)
		if !known[s.Name] || !sinks[r.states[i]] {
			continue
		}
		if err := ahead.fits(ctx, s); err != nil {
			return r.failed(ctx, r.states[i], err)
		}
	}
	return nil
}

// looksAhead returns the sinks that can report what they cannot store, and
// depend on a node that needs a pass over all samples.
func (r *run) looksAhead() map[*state]bool {
	passes := r.anyUpstream(func(n *state) bool { return n.pinned || n.Options.Auto || r.skips(n).Skip })
	scans := r.anyUpstream(func(n *state) bool { return n.Component.ScansFor(n.Params) })
	sinks := map[*state]bool{}
	for i, s := range r.states {
		if _, ok := s.Params.(component.Fitter); ok && s.Component.Kind == component.Sink && !s.unchanged && passes[i] && !scans[i] {
			sinks[s] = true
		}
	}
	return sinks
}

// buildWithoutComputing builds the output of a node. It reports whether it succeeded; the
// run gets the error again.
func (r *run) buildWithoutComputing(ctx context.Context, of, s *state) bool {
	in, err := r.input(s)
	if err != nil || s.Component.ScansFor(s.Params) {
		return false
	}
	env := r.env(s.Node, &s.stats)
	switch s.Component.Kind {
	case component.Source:
		if of.opened, err = s.Component.OpenSource(ctx, env, s.Params); err == nil {
			s.data = component.One(of.opened)
		}
	case component.Map:
		err = r.applyMapper(s, env, in)
	case component.Op:
		err = r.applyOp(ctx, s, env, in)
	case component.Sink:
	}
	return err == nil
}

// fits asks a sink whether it can store the first sample of each of its
// datasets.
func (r *run) fits(ctx context.Context, s *state) error {
	in, err := r.input(s)
	if err != nil {
		return nil //nolint:nilerr // it is met again
	}
	env := r.env(s.Node, &s.stats)
	for _, part := range in.Parts {
		if part.Len() == 0 {
			continue
		}
		_, err := singleflight.Protect(func() (struct{}, error) {
			sample, err := part.At(ctx, 0)
			if err == nil {
				err = s.Params.(component.Fitter).Fits(ctx, env, sample, func(f dataset.Field) bool { return isCheap(ctx, f.Item, map[*dataset.Execution]bool{}) })
			}
			return struct{}{}, err
		})
		if errors.Is(err, component.ErrUnfit) {
			return &dataset.SampleError{Node: s.Name, Index: 0, Err: err}
		}
	}
	return nil
}

// isCheap reports whether getting an item computes only results that are cached
// or in known.
func isCheap(ctx context.Context, it *dataset.Item, known map[*dataset.Execution]bool) bool {
	e, ok := dataset.ExecutionOf(it)
	if !ok || known[e] {
		return true
	}
	if cached, err := e.Keeps(ctx); err != nil || !cached {
		return false
	}
	for f := range e.Inputs().Fields() {
		if !isCheap(ctx, f.Item, known) {
			return false
		}
	}
	known[e] = true
	return true
}
