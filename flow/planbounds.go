package flow

import (
	"context"
	"errors"
	"slices"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
)

// mayBeSkipped marks the nodes that compute samples which this node or one
// above may skip.
func (p *planner) mayBeSkipped() {
	skipping := func(s *state) bool { return p.skips(s).Skip && p.plans[s.Name] != nil && p.plans[s.Name].Compute > 0 }
	above := p.anyUpstream(skipping)
	for i, s := range p.states {
		if np := p.plans[s.Name]; np != nil {
			np.AtMost = np.AtMost || skipping(s) || above[i]
		}
	}
}

// leaveOpen marks the nodes with samples that a run may read and the planner
// did not check: those upstream of nodes that would read unknown samples.
func (p *planner) leaveOpen(ctx context.Context) error {
	looked, through := map[*state]bool{}, map[*state]bool{}
	look := func(s *state) error {
		if looked[s] {
			return nil
		}
		looked[s] = true
		exact, err := p.exact(ctx, s)
		if err != nil {
			return p.failed(ctx, s, err)
		}
		p.plans[s.Name].AtLeast = !exact
		return nil
	}
	for todo := slices.Clone(p.open); len(todo) > 0; todo = todo[1:] {
		s := todo[0]
		if err := look(s); err != nil {
			return err
		}
		if through[s] {
			continue
		}
		through[s] = true
		for _, from := range s.inputs {
			if err := look(from); err != nil {
				return err
			}
			if !p.keepsHere(from) {
				todo = append(todo, from)
			}
		}
	}
	return nil
}

// exact reports whether the planner checked all computations of the samples of
// a node.
func (p *planner) exact(ctx context.Context, s *state) (bool, error) {
	if s.Component.Kind != component.Map && !s.Component.Maps {
		return true, nil
	}
	if p.plans[s.Name].Unknown != "" {
		return false, nil
	}
	defer p.recorder.Take()
	for _, part := range s.data.Parts {
		for i := range dataset.Distinct(ctx, part) {
			sample, err := part.At(ctx, i)
			if errors.Is(err, larder.ErrNotCached) {
				return false, nil
			}
			if err != nil {
				return false, err
			}
			for _, e := range sample.Executions() {
				if known, err := p.known(ctx, e); err != nil || s.of(e.Node()) && !known {
					return false, err
				}
			}
		}
	}
	return true, context.Cause(ctx)
}

// known reports whether an execution requested here is already counted. An
// execution that does not cache its result would run even if the result is
// cached.
func (p *planner) known(ctx context.Context, e *dataset.Execution) (bool, error) {
	a, err := e.Action(ctx)
	if err != nil {
		return false, err
	}
	stored, err := e.Keeps(ctx)
	seen := p.seen[placeAction{e.Node(), a.Key()}]
	return seen == computes || seen == cached && stored, err
}
