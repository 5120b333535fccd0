package flow

import (
	"bytes"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/key"
)

// Fingerprint identifies the data of some nodes as the flow describes it.
// Without names it takes the sinks, or in a flow without sinks the last
// checkpoints. Flows with the same fingerprint compute the same from the same
// sources.
//
// It leaves out what cannot change the data:
//   - names of nodes and variables, and their order;
//   - options for caching, workers, and where sinks write;
//   - bounds of time and memory, where no sample is skipped;
//   - nodes that the named ones do not read;
//   - the content of sources and the code of components.
func (f *Flow) Fingerprint(nodes ...string) (key.Digest, error) {
	targets, outputs, err := f.targets(nodes)
	if err != nil {
		return key.Digest{}, requestError{err}
	}
	if len(nodes) == 0 {
		targets = f.last(targets)
	}
	p := &printer{writer: writer{flow: f, data: true}, of: map[*Node]key.Digest{}}
	var all []key.Digest
	for _, n := range targets {
		d, err := p.print(n)
		if err != nil {
			return key.Digest{}, err
		}
		slices.Sort(outputs[n])
		if d, err = key.Of([]any{d, outputs[n]}); err != nil {
			return key.Digest{}, err
		}
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b key.Digest) int { return bytes.Compare(a[:], b[:]) })
	return key.Of(all)
}

// last returns the sinks among targets. Without sinks it returns the targets
// that no other target reads: a checkpoint upstream of them changes nothing.
func (f *Flow) last(targets []*Node) []*Node {
	sinks := slices.DeleteFunc(slices.Clone(targets), func(n *Node) bool { return n.Component.Kind != component.Sink })
	if len(sinks) > 0 {
		return sinks
	}
	read := map[string]bool{}
	target := map[*Node]bool{}
	for _, n := range targets {
		target[n] = true
	}
	for _, n := range slices.Backward(f.order) { // readers first
		if read[n.Name] || target[n] {
			for _, in := range n.From {
				read[in.Node] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(targets), func(n *Node) bool { return read[n.Name] })
}

// printer computes the fingerprints of nodes.
type printer struct {
	writer
	of map[*Node]key.Digest
}

func (p *printer) print(n *Node) (d key.Digest, err error) {
	if d, ok := p.of[n]; ok {
		return d, nil
	}
	what, err := p.says(n)
	if err != nil {
		return d, fmt.Errorf("node %s: %w", n.Name, err)
	}
	parts := []any{what}
	for _, in := range n.From {
		from, err := p.flow.Node(in.Node)
		if err != nil {
			return d, err
		}
		of, err := p.print(from)
		if err != nil {
			return d, err
		}
		parts = append(parts, of, in.Output)
	}
	d, err = key.Of(parts)
	p.of[n] = d
	return d, err
}

// says describes what a node does, as a file would.
func (p *printer) says(n *Node) (string, error) {
	m := mapping()
	put(m, string(n.Component.Kind), text(n.Component.Name))
	if !n.Component.IsRegistered() {
		if p.anywhere {
			return n.Component.Name, nil
		}
		return "", fmt.Errorf("a Go value (%s) has no fingerprint", n.Component.Name)
	}
	with, err := p.params(n, n.Component, n.Params)
	if err != nil {
		return "", err
	}
	put(m, "with", with)
	if !p.anywhere {
		p.putDir(m, n)
	}
	if n.skips() {
		put(m, "on-error", text(n.Options.OnError.String()))
		put(m, "limits", writtenLimits(p.flow.Limits))
	}
	b, err := yaml.Dump(m, yaml.WithLineWidth(-1))
	return string(b), err
}

// skips reports whether the node skips samples that it cannot compute. Bounds
// of time and of decoded sizes may then change which samples there are.
func (n *Node) skips() bool {
	return n.Options.OnError != nil && n.Options.OnError.Skip && n.makes()
}
