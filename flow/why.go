package flow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/app/explain"
	"github.com/larder-data/larder/internal/app/records"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// Why reports for every result that one sample of a node depends on whether it
// would be computed now, and why, one line each.
func (f *Flow) Why(ctx context.Context, o RunOptions, node string, sample int) ([]string, error) {
	ctx = larder.CachedOnly(ctx)
	p, s, err := f.planned(ctx, o, node, sample)
	if err != nil {
		return nil, err
	}
	return p.explain.reasons(ctx, s)
}

// planned returns one sample of a node as it would be computed. Samples are
// numbered through all outputs, unless the node is NODE.OUTPUT.
func (f *Flow) planned(ctx context.Context, o RunOptions, node string, sample int) (*planner, dataset.Sample, error) {
	o.Only = []string{node}
	p, err := f.plan(ctx, o)
	if err != nil {
		return nil, dataset.Sample{}, err
	}
	s, err := p.target(node)
	if err != nil {
		return nil, dataset.Sample{}, err
	}
	parts, err := s.wanted(s.data)
	if err != nil {
		return nil, dataset.Sample{}, err
	}
	n := 0
	for _, part := range parts {
		if sample >= n+part.Len() {
			n += part.Len()
			continue
		}
		found, err := part.At(ctx, sample-n)
		if err != nil {
			err = p.failed(ctx, s, err)
		}
		return p, found, err
	}
	return nil, dataset.Sample{}, requestError{fmt.Errorf("node %s has %d samples; there is no sample %d", node, n, sample)}
}

// reasons returns a line for each result that a sample depends on.
func (x *explainer) reasons(ctx context.Context, s dataset.Sample) ([]string, error) {
	var lines []string
	for _, e := range s.Executions() {
		text := "cached"
		err := e.Make(ctx)
		if errors.Is(err, larder.ErrNotCached) {
			text, err = x.why(ctx, e)
		}
		if err != nil {
			return nil, err
		}
		lines = append(lines, fmt.Sprintf("%s, sample %d: %s", e.Node(), e.Index(), text))
	}
	if lines == nil {
		lines = []string{"no items are computed"}
	}
	return lines, nil
}

// explainer finds out why results would be computed.
type explainer struct {
	*run
	provenance records.ProvenanceReader
	last       map[string]map[int]use // what nodes used the last time, by sample
	autos      []bool                 // nodes that reach a checkpoint on which the run decides; nil until computed
}

func newExplainer(r *run) explainer {
	x := explainer{run: r, last: map[string]map[int]use{}}
	if r.Larder != nil {
		x.provenance.Store = r.Larder.Store()
	}
	return x
}

// waits is the reason for computing results whose key depends on results that
// are not stored.
const waits = "its inputs are computed first; if they have the same results as before, this is not computed"

// decides is the reason why it is open whether results are cached.
const decides = "checkpoint: auto decides about caching once some costs are measured"

// why returns the reason for computing a result.
func (x *explainer) why(ctx context.Context, e *dataset.Execution) (string, error) {
	cached, err := e.Keeps(ctx)
	if err != nil {
		return "", err
	}
	node, _, _ := strings.Cut(e.Node(), ".")
	if !cached && x.reachesAuto(x.state(node)) {
		return decides, nil
	}
	if !cached {
		return "results of this node are not cached (no keep or checkpoint)", nil
	}
	resolved, err := e.Resolved(ctx)
	if errors.Is(err, larder.ErrNotCached) {
		return waits, nil
	}
	if err != nil {
		return "", err
	}
	return x.difference(ctx, e, resolved)
}

// reachesAuto reports whether a checkpoint on which the run decides depends on
// results of the node.
func (x *explainer) reachesAuto(s *state) bool {
	if x.autos == nil {
		x.autos = make([]bool, len(x.states))
		for i, s := range slices.Backward(x.states) {
			x.autos[i] = s.Options.Auto || slices.ContainsFunc(s.readers, func(r *state) bool { return x.autos[r.at] })
		}
	}
	return x.autos[s.at]
}

// difference describes what changed since the last run.
func (x *explainer) difference(ctx context.Context, e *dataset.Execution, now *key.Action) (string, error) {
	last := x.lastUses(ctx, e.Node())[e.Index()].record
	if last.IsZero() {
		return "not computed before", nil
	}
	if last == x.Larder.Key(now.Key()) {
		return "computed before, but no longer in the cache", nil
	}
	b, err := x.provenance.Store.Provenance(ctx, last)
	if errors.Is(err, store.ErrNotFound) {
		return "changed since the last run; the previous result is no longer in the cache", nil
	}
	if err != nil {
		return "", err
	}
	before, err := x.provenance.Read(ctx, b)
	if err != nil {
		return "changed since the last run", nil
	}
	var changes []string
	for _, c := range key.Diff(before, now.Parts()) {
		changes = append(changes, explain.Change(ctx, x.Larder, c)...)
	}
	return strings.Join(changes, "; "), nil
}

// lastUses returns what a node used in its last run, by sample.
func (x *explainer) lastUses(ctx context.Context, node string) map[int]use {
	used, ok := x.last[node]
	if !ok {
		m, _ := x.Larder.Store().Manifest(ctx, x.manifestName(node)) // none: nothing was cached
		used = usesOf(m)
		x.last[node] = used
	}
	return used
}
