package flow

import (
	"context"
	"errors"
	"strings"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
)

// takeForeseen counts what operators requested.
func (p *planner) takeForeseen(ctx context.Context) error {
	makings, passages := p.foreseen.Take()
	for _, m := range makings {
		if err := p.making(ctx, m); err != nil {
			return err
		}
	}
	for _, pass := range passages {
		np := p.plan(pass.Node)
		switch {
		case p.kept[pass.Action]:
			np.Kept += int64(pass.Samples)
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

func (p *planner) makings(ctx context.Context, s dataset.Sample) error {
	for _, m := range s.Makings() {
		if err := p.making(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// making counts one execution as cached or to be computed, and in the second
// case continues with its inputs.
func (p *planner) making(ctx context.Context, m *dataset.Making) error {
	a, err := m.Action(ctx)
	if err != nil {
		return err
	}
	kept, err := m.Kept(ctx)
	if err != nil {
		return err
	}
	id := placeAction{m.Node(), a.Key()}
	seen, before := p.seen[id]
	if seen == computes || before && kept {
		return nil
	}
	np := p.plan(m.Node())
	if err = m.Make(ctx); err == nil {
		p.seen[id] = stands
		if before {
			return nil
		}
		np.Kept++
		cost, err := m.Cost(ctx)
		np.Seconds += cost.Seconds()
		return err
	}
	if !errors.Is(err, larder.ErrDry) {
		return err
	}
	p.seen[id] = computes
	if kept && p.kept[a.Key()] {
		np.Kept++
		return nil
	}
	reason, err := p.explain.why(ctx, m)
	if err != nil {
		return err
	}
	np.AtMost = np.AtMost || reason == waits || reason == decides
	np.Compute++
	np.add(reason, m.Index())
	if kept {
		p.keeps(a.Key())
	}
	return p.makings(ctx, m.Inputs())
}

// first reports whether an action of a node is checked for the first time.
func (p *planner) first(place string, action key.Key) bool {
	id := placeAction{place, action}
	_, was := p.seen[id]
	if !was {
		p.seen[id] = stands
	}
	return !was
}

// keeps records an action whose result would be cached once computed.
func (p *planner) keeps(action key.Key) {
	if !action.IsZero() {
		p.kept[action] = true
	}
}

// looked is the result of checking an action.
type looked int

// An action whose result is cached may still be executed for a reader that
// bypasses the cache.
const (
	stands looked = iota + 1
	computes
)

// placeAction is an action of a node, or of one of its outputs.
type placeAction struct {
	place  string
	action key.Key
}
