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
	Samples   int64          `json:"samples"` // that the node puts out; for a sink, takes in
	Kept      int64          `json:"kept"`    // would be handed out without computing
	Compute   int64          `json:"compute"` // would be computed
	// Seconds is what the results that are kept took to compute.
	Seconds float64 `json:"seconds_saved"`
	// Unknown says why the number of samples is not known before something has
	// run. Kept and Compute then count what is certain.
	Unknown string `json:"unknown,omitempty"`
	// AtLeast says that more may be kept or computed than Kept and Compute say:
	// what is read of the node is known once others have been computed.
	AtLeast bool `json:"at_least,omitempty"`
	// AtMost says that less may be computed than Compute says: what a result is
	// made from may come out as before, checkpoint: auto may have it kept, or its
	// sample may be skipped, which is in Samples, too.
	AtMost  bool     `json:"at_most,omitempty"`
	Reasons []Reason `json:"reasons,omitempty"`
}

// A Reason says why samples would be computed.
type Reason struct {
	Text  string `json:"text"`
	Count int64  `json:"count"`
	First int    `json:"first"` // position of the first such sample
}

// Plan finds out what [Flow.Run] would compute. It computes, keeps and writes
// nothing, but it reads what the decision needs: the content of files, and
// what is kept. Of a node whose results are kept, a run by one worker computes as
// many as the plan says, less those whose inputs come out as before; of others, a
// result that is read more than once may be computed more than once.
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

// plan goes through the flow under a dry context.
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

// A planner is a run under a dry context, which computes nothing, and what it
// finds out.
type planner struct {
	*run
	plans map[string]*NodePlan
	seen  map[placeAction]looked // what was looked at
	kept  map[key.Key]bool       // what nodes looked at so far would compute and keep
	last  map[string]map[int]use // what nodes used the last time, by sample

	foreseen dataset.Foreseen
	open     []*state // that would read samples which are not known
	autos    []bool   // which nodes reach a checkpoint on which the run decides; nil until asked for
}

// node builds one node, and goes through its samples if the run would.
func (p *planner) node(ctx context.Context, s *state) error {
	np := &NodePlan{Name: s.Name, Kind: s.Component.Kind, Component: s.Component.Name}
	p.plans[s.Name] = np
	if s.unchanged {
		np.Samples, np.Kept, np.Seconds = s.samples, s.tally.FromStore.Load(), s.tally.Saved().Seconds()
		return nil
	}
	if s.Options.Auto || s.Options.Cache != nil && s.Options.Cache.Policy == "auto" {
		p.open = append(p.open, s) // the run decides by what some samples cost
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
		np.Kept += s.tally.FromMemory.Load() + s.tally.FromStore.Load()
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

// stand counts what went into samples that a sink would not look at.
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
			np.Kept += n
			np.Seconds += w.past.saved(s.Name, n).Seconds()
		}
	}
}

// inputOrBuild returns what a sink would take in, or what another node puts
// out.
func (p *planner) inputOrBuild(ctx context.Context, s *state) (component.Data, error) {
	if s.Component.Kind == component.Sink {
		return p.input(s)
	}
	err := p.build(ctx, s)
	return s.data, err
}

// samples looks at everything that makes the samples of ds from one up to another.
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

// lookedAt yields the positions of the samples at which the planner looks, of those from
// one up to another.
func lookedAt(ctx context.Context, ds component.Samples, from, to int) iter.Seq[int] {
	if from == 0 && to == ds.Len() {
		return dataset.Distinct(ctx, ds)
	}
	return func(yield func(int) bool) {
		for i := from; i < to && ctx.Err() == nil && yield(i); i++ {
		}
	}
}

// takeForeseen counts what operators asked for.
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

// keeps notes what would be kept when it has been computed.
func (p *planner) keeps(action key.Key) {
	if !action.IsZero() {
		p.kept[action] = true
	}
}

// mayBeSkipped marks the nodes that compute something of samples that may be skipped, by
// themselves or by others above them.
func (p *planner) mayBeSkipped() {
	skipping := func(s *state) bool { return p.skips(s).Skip && p.plans[s.Name] != nil && p.plans[s.Name].Compute > 0 }
	above := p.haveAbove(skipping)
	for i, s := range p.states {
		if np := p.plans[s.Name]; np != nil {
			np.AtMost = np.AtMost || skipping(s) || above[i]
		}
	}
}

// leaveOpen marks the nodes of which more may be read than what was looked at:
// those above nodes that would read samples which are not known.
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

// exact reports whether all was looked at that makes the samples of a node.
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

// known reports whether it is counted what happens to an execution if it is asked
// for here: one whose result is kept elsewhere would be carried out.
func (p *planner) known(ctx context.Context, m *dataset.Making) (bool, error) {
	a, err := m.Action(ctx)
	if err != nil {
		return false, err
	}
	kept, err := m.Kept(ctx)
	seen := p.seen[placeAction{m.Node(), a.Key()}]
	return seen == computes || seen == stands && kept, err
}

// plan returns the plan of a node, named by itself or with one of its outputs.
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

// making counts one execution as kept or to be computed, and in the second
// case goes on to what it reads.
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

// first reports whether an action of a node is looked at for the first time.
func (p *planner) first(place string, action key.Key) bool {
	id := placeAction{place, action}
	_, was := p.seen[id]
	if !was {
		p.seen[id] = stands
	}
	return !was
}

// looked is what came of looking at an action.
type looked int

// An action of which the result stands may yet be carried out, for a reader that
// does not read through what keeps it.
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

// waits is why what is named by results that are not there would be computed.
const waits = "what it reads is computed first; if that comes out as before, this is not computed"

// decides is why it is open whether results are kept.
const decides = "whether results are kept, and those found that were, checkpoint: auto decides when it knows what some cost"

// why says why an execution would take place.
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
		return "results of this node are not kept (no keep or checkpoint)", nil
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

// reachesAuto reports whether results of a node end up in a checkpoint on which the
// run decides.
func (p *planner) reachesAuto(s *state) bool {
	if p.autos == nil {
		p.autos = make([]bool, len(p.states))
		for i, s := range slices.Backward(p.states) {
			p.autos[i] = s.Options.Auto || slices.ContainsFunc(s.readers, func(r *state) bool { return p.autos[r.at] })
		}
	}
	return p.autos[s.at]
}

// difference says what is not as it was the last time.
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

// lastUses returns what a node used the last time it ran, by sample.
func (p *planner) lastUses(ctx context.Context, node string) map[int]use {
	used, ok := p.last[node]
	if !ok {
		m, _ := p.Larder.Store().Manifest(ctx, p.manifestName(node)) // none: nothing was kept
		used = usesOf(m)
		p.last[node] = used
	}
	return used
}

// Why says of one sample of a node what of it would be computed now and why,
// for every result that goes into it: a line each.
func (f *Flow) Why(ctx context.Context, o RunOptions, node string, sample int) ([]string, error) {
	ctx = larder.Dry(ctx)
	p, s, err := f.planned(ctx, o, node, sample)
	if err != nil {
		return nil, err
	}
	return p.reasons(ctx, s)
}

// planned returns one sample of a node as it would be made. Samples are numbered through
// all outputs, unless the node is NODE.OUTPUT.
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
	return nil, dataset.Sample{}, requestError{fmt.Errorf("node %s has %d samples, and no sample %d", node, n, sample)}
}

// reasons says a line of each result that goes into a sample.
func (p *planner) reasons(ctx context.Context, s dataset.Sample) ([]string, error) {
	var lines []string
	for _, m := range s.Makings() {
		text := "kept"
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
