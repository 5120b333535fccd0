package flow

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/flight"
)

// all builds every node that is needed and does the work of the targets. A node
// starts when those that it waits for have ended, so branches that have
// nothing to do with each other go on side by side; together they work on no
// more samples at once than one would. The first failure ends the others.
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

// waits lists for each node those that must have ended before it starts: the
// ones that it reads, and of those that stand before it in the flow the ones
// that read the same remembered samples. The second reader then finds what the
// first one made, and a cache is read in one order at a time. A single worker
// goes through the nodes as they stand.
func (r *run) waits() [][]*state {
	waits, remembered := make([][]*state, len(r.states)), make([][]*state, len(r.states))
	for i, s := range r.states {
		remembered[i] = r.remembered(s)
		for j, other := range r.states[:i] {
			reads := slices.ContainsFunc(s.From, func(in Input) bool { return in.Node == other.Name })
			shares := slices.ContainsFunc(remembered[j], func(n *state) bool { return slices.Contains(remembered[i], n) })
			if reads || shares || r.Pool.Workers() == 1 {
				waits[i] = append(waits[i], other)
			}
		}
	}
	return waits
}

// remembered lists the nodes above one that keep samples as these are read. What
// is above a checkpoint is not read any more.
func (r *run) remembered(s *state) (all []*state) {
	for _, n := range r.above(s, func(n *state) bool { return n.Options.Checkpoint }) {
		if n.Options.Keep || n.Options.Cache != nil || n.Options.Auto {
			all = append(all, n)
		}
	}
	return all
}

// above lists the nodes that a node reads, and those that they read, except
// above nodes at which it is told to stop.
func (r *run) above(s *state, stop func(n *state) bool) (all []*state) {
	for todo := []*state{s}; len(todo) > 0; {
		var n *state
		n, todo = todo[0], todo[1:]
		for _, in := range n.From {
			if from := r.state(in.Node); !slices.Contains(all, from) {
				all = append(all, from)
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
	_, err := flight.Protect(func() (struct{}, error) {
		err := r.build(ctx, s)
		if err == nil && (r.keepsHere(s) || s.target && !s.pinned && s.Component.Kind != component.Sink) {
			err = r.materialise(ctx, s)
		}
		return struct{}{}, err
	})
	if err != nil {
		return r.failed(ctx, s, err)
	}
	return nil
}

// failed names the node in an error, unless the error does. A node that was
// told to stop did not fail.
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
