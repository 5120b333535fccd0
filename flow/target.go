package flow

import (
	"errors"
	"fmt"
	"strings"

	"github.com/larder-data/larder/component"
)

// Targets returns the nodes that a run of the given names is for, or all sinks
// and checkpoints without names. A name is NODE, which may be several nodes of
// a sweep, or NODE.OUTPUT.
func (f *Flow) Targets(only ...string) ([]*Node, error) {
	targets, _, err := f.targets(only)
	return targets, err
}

// targets also returns the requested outputs of a node, unless all are.
func (f *Flow) targets(only []string) (targets []*Node, outputs map[*Node][]string, err error) {
	outputs = map[*Node][]string{}
	named, whole := map[*Node]bool{}, map[*Node]bool{}
	for _, name := range only {
		nodes, output, err := f.find(name)
		if err != nil {
			return nil, nil, err
		}
		for _, n := range nodes {
			if !named[n] {
				targets = append(targets, n)
			}
			named[n] = true
			if whole[n] = whole[n] || output == ""; whole[n] {
				delete(outputs, n)
			} else {
				outputs[n] = append(outputs[n], output)
			}
		}
	}
	if len(only) > 0 {
		return targets, outputs, nil
	}
	for _, n := range f.Nodes {
		if n.Component.Kind == component.Sink || n.Options.Checkpoint {
			targets = append(targets, n)
		}
	}
	if len(targets) == 0 {
		return nil, nil, errors.New("the flow has no sink and no checkpoint: name the nodes to run")
	}
	return targets, outputs, nil
}

// find returns the nodes with a name; for NODE.OUTPUT also the output.
func (f *Flow) find(name string) (nodes []*Node, output string, err error) {
	name, output, dotted := strings.Cut(name, ".")
	if nodes = f.called(name); nodes == nil {
		_, err = f.Node(name)
		return nil, "", err
	}
	switch {
	case dotted && nodes[0].Component.Kind == component.Sink:
		return nil, "", fmt.Errorf("node %s is a sink and has no outputs; leave out %q, or let the sink read one output", name, "."+output)
	case dotted && !f.several[nodes[0]]:
		return nil, "", fmt.Errorf("node %s has no named outputs; leave out %q", name, "."+output)
	case dotted && output == "":
		return nil, "", fmt.Errorf("%s. has no output name after the dot", name)
	}
	return nodes, output, nil
}

// called returns the node with a name, or its variants by a sweep.
func (f *Flow) called(name string) []*Node {
	if variants := f.variants(name); variants != nil {
		return variants
	}
	if n, err := f.Node(name); err == nil {
		return []*Node{n}
	}
	return nil
}

// target returns the only target, which has this name.
func (r *run) target(name string) (*state, error) {
	if len(r.targets) > 1 {
		return nil, requestError{fmt.Errorf("node %s has several variants from a sweep; name one, such as %s", name, r.targets[0].Name)}
	}
	return r.state(r.targets[0].Name), nil
}

// wanted returns the requested parts of a node's data: all, unless outputs are
// named.
func (s *state) wanted(data component.Data) ([]component.Samples, error) {
	if s.only == nil {
		return data.Parts, nil
	}
	var parts []component.Samples
	for _, name := range s.only {
		d, err := data.Output(name)
		if err != nil {
			return nil, requestError{err}
		}
		parts = append(parts, d.Parts...)
	}
	return parts, nil
}
