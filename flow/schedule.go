package flow

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/proc/singleflight"
)

// all builds every needed node and does the work of the targets. A node starts
// when the nodes it waits for have ended, so independent branches run
// concurrently. Together they compute no more samples at a time than one branch
// would. The first failure ends the others.
func (r *run) all(ctx context.Context) error {
	waits := r.waits()
	g, ctx := errgroup.WithContext(ctx)
	for i, s := range r.states {
		g.Go(func() error {
			for _, before := range waits[i] {
				select {
				case <-before.ended:
				case <-ctx.Done():
				}
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := r.do(ctx, s); err != nil {
				return err
			}
			r.events.ended(s)
			close(s.ended)
			return nil
		})
	}
	return g.Wait()
}

// waits lists for each node those that must end before it starts: its inputs,
// and earlier nodes that read the same cached samples. The second reader then
// finds the results of the first, and a cache is read in one order at a time. A
// single worker takes the nodes in order. Of nodes that wait for one another
// anyway, only the last is listed.
func (r *run) waits() [][]*state {
	waits := make([][]*state, len(r.states))
	remembered := r.gather(func(n *state) bool { return n.Options.Keep || n.Options.Cache != nil || n.Options.Auto },
		func(n *state) bool { return n.Options.Checkpoint })
	last := make([]*state, len(r.states)) // last reader so far of what a node caches
	for i, s := range r.states {
		if r.Pool.Workers() == 1 {
			if i > 0 {
				waits[i] = r.states[i-1 : i]
			}
			continue
		}
		waits[i] = s.inputs
		listed := map[*state]bool{nil: true}
		for _, from := range s.inputs {
			listed[from] = true
		}
		for n := range remembered[i].all() {
			if before := last[n]; !listed[before] {
				listed[before] = true
				waits[i] = append(slices.Clip(waits[i]), before)
			}
			last[n] = s
		}
	}
	return waits
}

// anyUpstream reports for each node whether holds is true for any node upstream of it.
func (r *run) anyUpstream(holds func(n *state) bool) []bool {
	have := make([]bool, len(r.states))
	for i, s := range r.states {
		have[i] = slices.ContainsFunc(s.inputs, func(from *state) bool { return have[from.at] || holds(from) })
	}
	return have
}

// gather lists for each node the positions of those upstream for which holds is
// true. It does not continue upstream of a node for which stop is true. Nodes with
// the same set share a list.
func (r *run) gather(holds, stop func(n *state) bool) []places {
	all := make([]places, len(r.states))
	for i, s := range r.states {
		for _, from := range s.inputs {
			if !stop(from) {
				all[i] = all[i].union(all[from.at])
			}
			if holds(from) {
				all[i] = all[i].with(from.at)
			}
		}
	}
	return all
}

// upstream lists the direct and indirect inputs of a node, except those upstream of
// nodes for which stop is true.
func (r *run) upstream(s *state, stop func(n *state) bool) (all []*state) {
	seen := map[*state]bool{}
	for todo := []*state{s}; len(todo) > 0; {
		var n *state
		n, todo = todo[0], todo[1:]
		for _, from := range n.inputs {
			if !seen[from] {
				seen[from], all = true, append(all, from)
				if !stop(from) {
					todo = append(todo, from)
				}
			}
		}
	}
	return all
}

// do builds a node, and does its work if it is a target.
func (r *run) do(ctx context.Context, s *state) error {
	r.events.started(s)
	if s.unchanged {
		return nil
	}
	_, err := singleflight.Protect(func() (struct{}, error) {
		err := r.build(ctx, s)
		if err == nil && (r.keepsHere(s) || s.target && !s.pinned && s.Component.Kind != component.Sink) {
			err = r.computeAll(ctx, s)
		}
		return struct{}{}, err
	})
	if err != nil {
		return r.failed(ctx, s, err)
	}
	return nil
}

// failed adds the name of the node to an error that lacks it. A node that was
// stopped did not fail.
func (r *run) failed(ctx context.Context, s *state, err error) error {
	if ctx.Err() != nil {
		return err
	}
	if sample := (*dataset.SampleError)(nil); !errors.As(err, &sample) && !errors.Is(err, context.Canceled) {
		err = fmt.Errorf("node %s: %w", s.Name, err)
	}
	r.events.failed(s, err)
	return err
}
