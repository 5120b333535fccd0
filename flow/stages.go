package flow

import (
	"errors"
	"slices"

	"github.com/larder-data/larder/component"
)

// A Stage is a set of nodes whose ranges several processes can compute independently.
// Nodes of later stages depend on all of its samples.
type Stage struct {
	Number int      `json:"stage"` // from 1
	Nodes  []string `json:"nodes"` // in the order of the flow
}

// ErrNoStages is the error of a flow that caches nothing that its targets need.
var ErrNoStages = errors.New("the flow caches no results that a shard could compute; set keep or checkpoint on a node")

// Stages lists the stages of a run with the options Only and OnError.
//
// The nodes of a stage are checkpoints, and the last nodes before a sink, before an
// operator that reads all samples (such as filter, sort or group-by) or repeats them, and
// before several readers; also nodes that skip samples. Their ranges cover every cached result once. A later stage
// begins where the order of samples changes after such a node.
func (f *Flow) Stages(o RunOptions) ([]Stage, error) {
	targets, _, err := f.targets(o.Only)
	if err != nil {
		return nil, requestError{err}
	}
	r := &run{Flow: f, RunOptions: o, targets: targets}
	for _, n := range f.needed(targets) {
		r.states = append(r.states, &state{Node: n, target: slices.Contains(targets, n), pinned: n.Options.Checkpoint})
	}
	r.connect()
	return r.stages()
}

// stages sets the stage of each node and lists them.
func (r *run) stages() (all []Stage, err error) {
	for _, s := range r.states {
		if s.Component.Kind != component.Sink && !r.streams[s.Node] {
			r.setStage(s)
		}
	}
	for _, s := range r.states {
		for len(all) < s.stage {
			all = append(all, Stage{Number: len(all) + 1})
		}
		if s.stage > 0 {
			all[s.stage-1].Nodes = append(all[s.stage-1].Nodes, s.Name)
		}
	}
	if len(all) == 0 {
		return nil, requestError{ErrNoStages}
	}
	return all, nil
}

// setStage sets the stage of a node after those of its inputs.
func (r *run) setStage(s *state) {
	s.uncovered = s.Options.Keep || s.Options.Checkpoint || s.Options.Auto || r.skipsCached(s)
	for _, from := range s.inputs {
		s.uncovered = s.uncovered || from.stage == 0 && from.uncovered
		aligned := max(from.aligned, from.stage)
		if !keepsPositions(s.Node) || r.skipsCached(from) {
			s.after, aligned = max(s.after, aligned), 0
		}
		s.after, s.aligned = max(s.after, from.after), max(s.aligned, aligned)
	}
	if s.uncovered && r.endsStage(s) {
		s.stage = max(s.aligned, s.after+1)
	}
}

// endsStage reports whether ranges of a node are computed, and not only those of its
// readers.
func (r *run) endsStage(s *state) bool {
	if s.target || s.Options.Checkpoint || r.skipsCached(s) {
		return true
	}
	all := 0 // readers that need every sample
	for _, reader := range s.readers {
		selects := component.ExactlyOnce // what mappers do
		if reader.Component.Kind == component.Op {
			selects = reader.Component.SelectionFor(reader.Params)
		}
		switch {
		case reader.Component.Kind == component.Sink, r.streams[reader.Node], reader.Component.ScansFor(reader.Params),
			selects == component.AtLeastOnce:
			return true
		case selects.DropsNone():
			all++
		}
	}
	return len(s.readers) > 1 && all > 0
}

// keepsPositions reports whether the sample at each position depends on the input's sample
// at that position alone.
func keepsPositions(n *Node) bool {
	return n.Component.Kind != component.Op || n.Component.Maps
}

// skipsCached reports whether a node caches its results because it skips samples that it
// cannot compute.
func (r *run) skipsCached(s *state) bool {
	return s.Component.Kind != component.Source && s.makes() && r.onError(s).Skip
}
