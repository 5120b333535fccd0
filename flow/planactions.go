package flow

import (
	"context"
	"errors"
	"strings"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
)

// takeRecorded counts what operators requested.
func (p *planner) takeRecorded(ctx context.Context) error {
	executions, scans := p.recorder.Take()
	for _, e := range executions {
		if err := p.execution(ctx, e); err != nil {
			return err
		}
	}
	for _, pass := range scans {
		np := p.plan(pass.Node)
		switch {
		case p.cached[pass.Action]:
			np.Cached += int64(pass.Samples)
		case pass.Waits:
			np.Compute += int64(pass.Samples)
			np.AtMost = true
			np.Reasons = append(np.Reasons, Reason{Text: waits, Count: int64(pass.Samples)})
		default:
			np.Compute += int64(pass.Samples)
			p.keeps(pass.Action)
		}
	}
	return nil
}

// plan returns the plan of a node, by its name or with one of its outputs.
func (p *planner) plan(place string) *NodePlan {
	node, _, _ := strings.Cut(place, ".")
	return p.plans[node]
}

func (p *planner) executions(ctx context.Context, s dataset.Sample) error {
	for _, e := range s.Executions() {
		if err := p.execution(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// execution counts one execution as cached or to be computed, and in the second
// case continues with its inputs.
func (p *planner) execution(ctx context.Context, e *dataset.Execution) error {
	a, err := e.Action(ctx)
	if err != nil {
		return err
	}
	stored, err := e.Keeps(ctx)
	if err != nil {
		return err
	}
	id := placeAction{e.Node(), a.Key()}
	seen, before := p.seen[id]
	if seen == computes || before && stored {
		return nil
	}
	np := p.plan(e.Node())
	if err = e.Make(ctx); err == nil {
		p.seen[id] = cached
		if before {
			return nil
		}
		np.Cached++
		cost, err := e.Cost(ctx)
		np.Seconds += cost.Seconds()
		return err
	}
	if !errors.Is(err, larder.ErrNotCached) {
		return err
	}
	p.seen[id] = computes
	if stored && p.cached[a.Key()] {
		np.Cached++
		return nil
	}
	reason, err := p.explain.why(ctx, e)
	if err != nil {
		return err
	}
	np.AtMost = np.AtMost || reason == waits || reason == decides
	np.Compute++
	np.add(reason, e.Index())
	if stored {
		p.keeps(a.Key())
	}
	return p.executions(ctx, e.Inputs())
}

// first reports whether an action of a node is checked for the first time.
func (p *planner) first(place string, action key.Key) bool {
	id := placeAction{place, action}
	_, was := p.seen[id]
	if !was {
		p.seen[id] = cached
	}
	return !was
}

// keeps records an action whose result would be cached once computed.
func (p *planner) keeps(action key.Key) {
	if !action.IsZero() {
		p.cached[action] = true
	}
}

// looked is the result of checking an action.
type looked int

// An action whose result is cached may still be executed for a reader that
// bypasses the cache.
const (
	cached looked = iota + 1
	computes
)

// placeAction is an action of a node, or of one of its outputs.
type placeAction struct {
	place  string
	action key.Key
}
