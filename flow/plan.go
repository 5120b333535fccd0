package flow

import (
	"context"
	"slices"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
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
	ctx = larder.CachedOnly(ctx)
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

// plan scans the flow under [larder.CachedOnly].
func (f *Flow) plan(ctx context.Context, o RunOptions) (*planner, error) {
	r, err := f.newRun(ctx, o)
	if err != nil {
		return nil, requestError{err}
	}
	p := &planner{run: r, seen: map[placeAction]looked{}, cached: map[key.Key]bool{}, plans: map[string]*NodePlan{}, explain: newExplainer(r)}
	ctx = dataset.WithDryRunRecorder(ctx, &p.recorder)
	r.leaveUnchanged(ctx)
	for _, s := range r.states {
		if err := p.node(ctx, s); err != nil {
			return nil, r.failed(ctx, s, err)
		}
	}
	p.mayBeSkipped()
	return p, p.leaveOpen(ctx)
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
