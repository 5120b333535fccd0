package flow

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/larder-data/larder/component"
)

// A Range is a run of consecutive samples of the output of a node.
type Range struct {
	Node string `json:"node"`
	Part int    `json:"part,omitempty"` // index of the dataset, if the node outputs several
	From int    `json:"from"`
	To   int    `json:"to"` // exclusive
}

// An Executor computes samples of a flow: in this process, as [Flow.LocalExecutor] does, or
// in other processes and on other machines that have its [Bundle] and share a
// store.
type Executor interface {
	// Make computes and caches the cacheable results of a range. It waits for
	// results that other processes are computing, so nothing is computed twice.
	// Results computed before an error stay cached.
	Make(ctx context.Context, r Range) error
}

// LocalExecutor is an [Executor] in this process. It is safe for concurrent use.
type LocalExecutor struct {
	run   *run
	start time.Time
	mu    sync.Mutex // held while nodes are built
	built map[string]bool
}

// LocalExecutor returns an executor of all nodes with an output. A node is built
// at its first request. An operator that has to read all samples does so then,
// and so does every other executor of that node. Checkpoints are
// computed range by range, in the larder, and pinned by the next [Flow.Run].
func (f *Flow) LocalExecutor(ctx context.Context, o RunOptions) (*LocalExecutor, error) {
	o.Only, o.Checkpoints = nil, nil
	for _, n := range f.order {
		if n.Component.Kind != component.Sink {
			o.Only = append(o.Only, n.Name)
		}
	}
	r, err := f.newRun(ctx, o)
	if err != nil {
		return nil, requestError{err}
	}
	r.ranges = true
	return &LocalExecutor{run: r, start: time.Now(), built: map[string]bool{}}, nil
}

// Lens returns the number of samples of each dataset that a node outputs.
func (h *LocalExecutor) Lens(ctx context.Context, node string) ([]int, error) {
	s, err := h.node(ctx, node)
	if err != nil {
		return nil, err
	}
	lens := make([]int, len(s.data.Parts))
	for i, part := range s.data.Parts {
		lens[i] = part.Len()
	}
	return lens, nil
}

// Make implements [Executor].
func (h *LocalExecutor) Make(ctx context.Context, r Range) error {
	s, err := h.node(ctx, r.Node)
	if err != nil {
		return err
	}
	if r.Part < 0 || r.Part >= len(s.data.Parts) {
		return requestError{fmt.Errorf("node %s has %d outputs; there is no output %d", r.Node, len(s.data.Parts), r.Part)}
	}
	part := s.data.Parts[r.Part]
	if r.From < 0 || r.From > r.To || r.To > part.Len() {
		return requestError{fmt.Errorf("node %s has %d samples; range %d to %d is invalid", r.Node, part.Len(), r.From, r.To)}
	}
	if err := h.run.computeRange(h.run.context(ctx), s, part, r.From, r.To); err != nil {
		return h.run.failed(ctx, s, err)
	}
	return nil
}

// Report returns the report of the work so far.
func (h *LocalExecutor) Report(ctx context.Context) *Report {
	return h.run.report(ctx, nil, time.Since(h.start))
}

// node returns a node, built with all of its inputs.
func (h *LocalExecutor) node(ctx context.Context, name string) (*state, error) {
	n, err := h.run.Node(name)
	if err == nil && n.Component.Kind == component.Sink {
		err = fmt.Errorf("node %s is a sink without output; name an upstream node", name)
	}
	if err != nil {
		return nil, requestError{err}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	ctx = h.run.context(ctx)
	for _, n := range h.run.needed([]*Node{n}) {
		s := h.run.state(n.Name)
		if h.built[n.Name] {
			continue
		}
		if err := h.run.build(ctx, s); err != nil {
			s.data = component.Data{}
			return nil, h.run.failed(ctx, s, err)
		}
		h.built[n.Name] = true
	}
	return h.run.state(name), nil
}
