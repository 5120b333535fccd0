package flow

import (
	"context"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/internal/fs/pathguard"
)

// Inputs lists what the flow reads, whichever of its nodes run: its files, and
// the inputs of its nodes. No output may be, contain or lie in one of them.
func (f *Flow) Inputs() []pathguard.Input {
	var all []pathguard.Input
	for _, file := range f.Files {
		all = append(all, pathguard.Input{Owner: "the flow", Path: file})
	}
	for _, n := range f.Nodes {
		all = append(all, n.Component.Inputs(f.bareEnv(n), n.Params)...)
	}
	return all
}

// Outputs lists what a run of the named nodes writes, or of all nodes if none
// is named.
func (f *Flow) Outputs(only ...string) ([]pathguard.Output, error) {
	targets, err := f.Targets(only...)
	if err != nil {
		return nil, requestError{err}
	}
	var all []pathguard.Output
	for _, n := range targets {
		all = append(all, f.writes(n)...)
	}
	return all, nil
}

func (f *Flow) writes(n *Node) []pathguard.Output {
	all := n.Component.Outputs(f.bareEnv(n), n.Params)
	for i := range all {
		if all[i].Files && !all[i].Split && !f.several[n] {
			all[i].Single = true
		}
	}
	return all
}

// bareEnv returns the environment in which a component can describe what it
// would do.
func (f *Flow) bareEnv(n *Node) *component.Env {
	return &component.Env{Node: n.Name, Dir: n.dir(f)}
}

// protect refuses a run that would overwrite an input, or write two outputs to
// one place. It skips checks that the caller has done.
func (r *run) protect(ctx context.Context) error {
	if r.Reads == nil {
		r.Reads = &pathguard.Inputs{}
		r.Reads.Add(r.Inputs()...)
	}
	var outputs []pathguard.Output
	for _, n := range r.targets {
		outputs = append(outputs, r.writes(n)...)
	}
	if err := pathguard.CheckDisjoint(outputs...); err != nil {
		return err
	}
	if r.Larder != nil && r.Larder.Dir() != "" {
		outputs = append(outputs, pathguard.Output{Owner: "the cache", Path: r.Larder.Dir(), Shallow: true})
	}
	return r.Reads.Check(ctx, outputs...)
}
