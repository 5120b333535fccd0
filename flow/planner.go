package flow

import (
	"cmp"
	"context"
	"errors"
	"iter"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
)

// planner is a run under [larder.CachedOnly], which computes nothing, with its
// findings.
type planner struct {
	*run
	plans  map[string]*NodePlan
	seen   map[placeAction]looked // actions that were checked
	cached map[key.Key]bool       // results that nodes checked so far would compute and cache

	explain  explainer
	recorder dataset.DryRunRecorder // what operators requested
	open     []*state               // nodes that would read unknown samples
}

// node builds one node, and scans its samples if the run would.
func (p *planner) node(ctx context.Context, s *state) error {
	np := &NodePlan{Name: s.Name, Kind: s.Component.Kind, Component: s.Component.Name}
	p.plans[s.Name] = np
	if s.unchanged {
		np.Samples, np.Cached, np.Seconds = s.samples, s.stats.FromStore.Load(), s.stats.Saved().Seconds()
		return nil
	}
	if s.Options.Auto || s.Options.Cache != nil && s.Options.Cache.Policy == "auto" {
		p.open = append(p.open, s) // the run decides by the cost of some samples
	}
	for _, in := range s.From {
		if up := p.plans[in.Node]; up.Unknown != "" {
			np.Unknown = up.Unknown
			p.open = append(p.open, s)
			return nil
		}
	}
	data, err := p.inputOrBuild(ctx, s)
	if ferr := p.takeRecorded(ctx); ferr != nil {
		return ferr
	}
	if errors.Is(err, larder.ErrNotCached) {
		np.Unknown = "unknown until its inputs have been computed"
		p.open = append(p.open, s)
		return nil
	}
	if err != nil {
		return err
	}
	if s.Component.ScansFor(s.Params) { // of what was found
		np.Cached += s.stats.FromMemory.Load() + s.stats.FromStore.Load()
	}
	np.Samples = count(data)
	if !s.pinned && !s.target && !p.skips(s).Skip {
		return nil
	}
	var copied []component.Copy
	if w := s.writing; w != nil {
		copied = p.copiedPieces(ctx, w, data)
		p.stand(ctx, w, copied)
	}
	parts, err := s.wanted(data)
	if err != nil {
		return err
	}
	for _, part := range parts {
		first := 0
		for _, c := range copied {
			if err := p.samples(ctx, s, part, first, c.Now); err != nil {
				return err
			}
			first = c.Now + c.Samples
		}
		if err := p.samples(ctx, s, part, first, part.Len()); err != nil {
			return err
		}
	}
	return nil
}

// stand counts the dependencies of samples that a sink would not read.
func (p *planner) stand(ctx context.Context, w *writing, copied []component.Copy) {
	if len(copied) == 0 {
		return
	}
	for _, s := range w.nodes {
		for _, m := range s.manifest {
			was, _ := p.sameManifest(ctx, m, w.past.Manifests[m.name])
			np, n := p.plans[s.Name], int64(0)
			for _, u := range moved(was, copied) {
				if p.first(s.Name, cmp.Or(u.action, u.record)) {
					n++
				}
			}
			np.Cached += n
			np.Seconds += w.past.saved(s.Name, n).Seconds()
		}
	}
}

// inputOrBuild returns the input of a sink, or the output of another node.
func (p *planner) inputOrBuild(ctx context.Context, s *state) (component.Data, error) {
	if s.Component.Kind == component.Sink {
		return p.input(s)
	}
	err := p.build(ctx, s)
	return s.data, err
}

// samples checks all computations of the samples of ds in the range [from, to).
func (p *planner) samples(ctx context.Context, at *state, ds component.Samples, from, to int) error {
	open := false
	for i := range lookedAt(ctx, ds, from, to) {
		s, err := ds.At(ctx, i)
		if ferr := p.takeRecorded(ctx); ferr != nil {
			return ferr
		}
		if errors.Is(err, larder.ErrNotCached) {
			open = true
			continue
		}
		if err != nil {
			return err
		}
		if err := p.executions(ctx, s); err != nil {
			return err
		}
	}
	if open {
		p.open = append(p.open, at)
	}
	return context.Cause(ctx)
}

// lookedAt yields the positions in [from, to) that the planner checks.
func lookedAt(ctx context.Context, ds component.Samples, from, to int) iter.Seq[int] {
	if from == 0 && to == ds.Len() {
		return dataset.Distinct(ctx, ds)
	}
	return func(yield func(int) bool) {
		for i := from; i < to && ctx.Err() == nil && yield(i); i++ {
		}
	}
}
