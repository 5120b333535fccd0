package flow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/app/explain"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// A Plan says what a run would compute, and why.
type Plan struct {
	Flow  string     `json:"flow"`
	Nodes []NodePlan `json:"nodes"`
}

// A NodePlan says what a run would do at one node.
type NodePlan struct {
	Name      string         `json:"name"`
	Kind      component.Kind `json:"kind"`
	Component string         `json:"component"`
	Samples   int64          `json:"samples"` // samples that the node outputs; for a sink, reads
	Cached    int64          `json:"cached"`  // would be returned without computing
	Compute   int64          `json:"compute"` // would be computed
	// Seconds is the time that computing the cached results took.
	Seconds float64 `json:"seconds_saved"`
	// Unknown says why the number of samples is unknown until something has
	// run. Cached and Compute then count what is certain.
	Unknown string `json:"unknown,omitempty"`
	// AtLeast says that Cached and Compute are lower bounds: what is read of the
	// node is known only after others are computed.
	AtLeast bool `json:"at_least,omitempty"`
	// AtMost says that Compute is an upper bound. The dependencies of a result
	// may be unchanged after recomputation, checkpoint: auto may find it
	// cached, or its sample may be skipped. Samples is an upper bound in the
	// last case, too.
	AtMost  bool     `json:"at_most,omitempty"`
	Reasons []Reason `json:"reasons,omitempty"`
}

// A Reason says why samples would be computed.
type Reason struct {
	Text  string `json:"text"`
	Count int64  `json:"count"`
	First int    `json:"first"` // position of the first such sample
}

// Plan reports what [Flow.Run] would compute. It computes, caches and writes
// nothing, but reads what the decision needs: files and cached results. For a
// node with cached results, a run with one worker computes the number in the
// plan, less those whose inputs turn out unchanged. For other nodes, a result
// that is read more than once may be computed more than once.
func (f *Flow) Plan(ctx context.Context, o RunOptions) (*Plan, error) {
	ctx = larder.Dry(ctx)
	p, err := f.plan(ctx, o)
	if err != nil {
		return nil, err
	}
	plan := &Plan{Flow: f.Name}
	for _, n := range f.Nodes {
		if np, ok := p.plans[n.Name]; ok {
			plan.Nodes = append(plan.Nodes, *np)
		}
	}
	return plan, nil
}

// plan scans the flow under a dry context.
func (f *Flow) plan(ctx context.Context, o RunOptions) (*planner, error) {
	r, err := f.newRun(ctx, o)
	if err != nil {
		return nil, requestError{err}
	}
	p := &planner{run: r, seen: map[placeAction]looked{}, kept: map[key.Key]bool{}, plans: map[string]*NodePlan{}, last: map[string]map[int]use{}}
	ctx = dataset.Foresee(ctx, &p.foreseen)
	r.leaveUnchanged(ctx)
	for _, s := range r.states {
		if err := p.node(ctx, s); err != nil {
			return nil, r.failed(ctx, s, err)
		}
	}
	p.mayBeSkipped()
	return p, p.leaveOpen(ctx)
}

// planner is a run under a dry context, which computes nothing, with its
// findings.
type planner struct {
	*run
	plans map[string]*NodePlan
	seen  map[placeAction]looked // actions that were checked
	kept  map[key.Key]bool       // results that nodes checked so far would compute and cache
	last  map[string]map[int]use // what nodes used the last time, by sample

	foreseen dataset.Foreseen
	open     []*state // nodes that would read unknown samples
	autos    []bool   // nodes that reach a checkpoint on which the run decides; nil until computed
}

// node builds one node, and scans its samples if the run would.
func (p *planner) node(ctx context.Context, s *state) error {
	np := &NodePlan{Name: s.Name, Kind: s.Component.Kind, Component: s.Component.Name}
	p.plans[s.Name] = np
	if s.unchanged {
		np.Samples, np.Cached, np.Seconds = s.samples, s.tally.FromStore.Load(), s.tally.Saved().Seconds()
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
	if ferr := p.takeForeseen(ctx); ferr != nil {
		return ferr
	}
	if errors.Is(err, larder.ErrDry) {
		np.Unknown = "it is known once what it reads has been computed"
		p.open = append(p.open, s)
		return nil
	}
	if err != nil {
		return err
	}
	if s.Component.ScansFor(s.Params) { // of what was found
		np.Cached += s.tally.FromMemory.Load() + s.tally.FromStore.Load()
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
		if ferr := p.takeForeseen(ctx); ferr != nil {
			return ferr
		}
		if errors.Is(err, larder.ErrDry) {
			open = true
			continue
		}
		if err != nil {
			return err
		}
		if err := p.makings(ctx, s); err != nil {
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

// keeps records an action whose result would be cached once computed.
func (p *planner) keeps(action key.Key) {
	if !action.IsZero() {
		p.kept[action] = true
	}
}

// mayBeSkipped marks the nodes that compute samples which this node or one
// above may skip.
func (p *planner) mayBeSkipped() {
	skipping := func(s *state) bool { return p.skips(s).Skip && p.plans[s.Name] != nil && p.plans[s.Name].Compute > 0 }
	above := p.haveAbove(skipping)
	for i, s := range p.states {
		if np := p.plans[s.Name]; np != nil {
			np.AtMost = np.AtMost || skipping(s) || above[i]
		}
	}
}

// leaveOpen marks the nodes with samples that a run may read and the planner
// did not check: those above nodes that would read unknown samples.
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
	defer p.foreseen.Take()
	for _, part := range s.data.Parts {
		for i := range dataset.Distinct(ctx, part) {
			sample, err := part.At(ctx, i)
			if errors.Is(err, larder.ErrDry) {
				return false, nil
			}
			if err != nil {
				return false, err
			}
			for _, m := range sample.Makings() {
				if known, err := p.known(ctx, m); err != nil || s.of(m.Node()) && !known {
					return false, err
				}
			}
		}
	}
	return true, context.Cause(ctx)
}

// known reports whether an execution requested here is already counted. One
// whose result is cached elsewhere would be carried out.
func (p *planner) known(ctx context.Context, m *dataset.Making) (bool, error) {
	a, err := m.Action(ctx)
	if err != nil {
		return false, err
	}
	kept, err := m.Kept(ctx)
	seen := p.seen[placeAction{m.Node(), a.Key()}]
	return seen == computes || seen == stands && kept, err
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
		np.Cached++
		cost, err := m.Cost(ctx)
		np.Seconds += cost.Seconds()
		return err
	}
	if !errors.Is(err, larder.ErrDry) {
		return err
	}
	p.seen[id] = computes
	if kept && p.kept[a.Key()] {
		np.Cached++
		return nil
	}
	reason, err := p.why(ctx, m)
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

// add counts a sample that is computed for a reason.
func (np *NodePlan) add(text string, index int) {
	i := slices.IndexFunc(np.Reasons, func(r Reason) bool { return r.Text == text })
	if i < 0 {
		np.Reasons = append(np.Reasons, Reason{Text: text, First: index})
		i = len(np.Reasons) - 1
	}
	np.Reasons[i].Count++
	np.Reasons[i].First = min(np.Reasons[i].First, index)
}

// waits is the reason for computing results whose key depends on results that
// are not stored.
const waits = "what it reads is computed first; if that comes out as before, this is not computed"

// decides is the reason why it is open whether results are cached.
const decides = "whether results are cached, and those found that were, checkpoint: auto decides when it knows what some cost"

func (p *planner) why(ctx context.Context, m *dataset.Making) (string, error) {
	kept, err := m.Kept(ctx)
	if err != nil {
		return "", err
	}
	node, _, _ := strings.Cut(m.Node(), ".")
	if !kept && p.reachesAuto(p.state(node)) {
		return decides, nil
	}
	if !kept {
		return "results of this node are not cached (no keep or checkpoint)", nil
	}
	resolved, err := m.Resolved(ctx)
	if errors.Is(err, larder.ErrDry) {
		return waits, nil
	}
	if err != nil {
		return "", err
	}
	return p.difference(ctx, m, resolved)
}

// reachesAuto reports whether a checkpoint on which the run decides depends on
// results of the node.
func (p *planner) reachesAuto(s *state) bool {
	if p.autos == nil {
		p.autos = make([]bool, len(p.states))
		for i, s := range slices.Backward(p.states) {
			p.autos[i] = s.Options.Auto || slices.ContainsFunc(s.readers, func(r *state) bool { return p.autos[r.at] })
		}
	}
	return p.autos[s.at]
}

// difference describes what changed since the last run.
func (p *planner) difference(ctx context.Context, m *dataset.Making, now *key.Action) (string, error) {
	last := p.lastUses(ctx, m.Node())[m.Index()].record
	if last.IsZero() {
		return "not computed before", nil
	}
	if last == p.Larder.Key(now.Key()) {
		return "computed before, but no longer in the cache", nil
	}
	b, err := p.Larder.Store().Provenance(ctx, last)
	if errors.Is(err, store.ErrNotFound) {
		return "changed since the last run; what it was then is no longer in the cache", nil
	}
	if err != nil {
		return "", err
	}
	before, err := key.UnmarshalProvenance(b)
	if err != nil {
		return "changed since the last run", nil
	}
	var changes []string
	for _, c := range key.Diff(before, now.Parts()) {
		changes = append(changes, explain.Change(ctx, p.Larder, c)...)
	}
	return strings.Join(changes, "; "), nil
}

// lastUses returns what a node used in its last run, by sample.
func (p *planner) lastUses(ctx context.Context, node string) map[int]use {
	used, ok := p.last[node]
	if !ok {
		m, _ := p.Larder.Store().Manifest(ctx, p.manifestName(node)) // none: nothing was cached
		used = usesOf(m)
		p.last[node] = used
	}
	return used
}

// Why reports for every result that one sample of a node depends on whether it
// would be computed now, and why, one line each.
func (f *Flow) Why(ctx context.Context, o RunOptions, node string, sample int) ([]string, error) {
	ctx = larder.Dry(ctx)
	p, s, err := f.planned(ctx, o, node, sample)
	if err != nil {
		return nil, err
	}
	return p.reasons(ctx, s)
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
	return nil, dataset.Sample{}, requestError{fmt.Errorf("node %s has %d samples, so no sample %d", node, n, sample)}
}

// reasons returns a line for each result that a sample depends on.
func (p *planner) reasons(ctx context.Context, s dataset.Sample) ([]string, error) {
	var lines []string
	for _, m := range s.Makings() {
		text := "cached"
		err := m.Make(ctx)
		if errors.Is(err, larder.ErrDry) {
			text, err = p.why(ctx, m)
		}
		if err != nil {
			return nil, err
		}
		lines = append(lines, fmt.Sprintf("%s, sample %d: %s", m.Node(), m.Index(), text))
	}
	if lines == nil {
		lines = []string{"nothing of it is computed"}
	}
	return lines, nil
}
