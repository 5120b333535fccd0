package flow

import (
	"bytes"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/key"
)

// Fingerprint names what the flow says of the data of some nodes, or if none is named, of
// its sinks, or in a flow that has none of the last of its checkpoints: flows of one
// fingerprint make the same of the same sources. What cannot change the data does not
// count: the names of nodes and variables, in which order they stand, what is kept and
// cached, workers, bounds of time and memory where nothing is skipped, where sinks write,
// and nodes that these do not read. What the sources hold does not count, either, nor the
// code of components.
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

// last returns the sinks among targets, or if there are none those that no other reads: a
// checkpoint on the way to them changes nothing.
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

// printer finds the fingerprints of nodes.
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

// says is what a node does, as it would be written.
func (p *printer) says(n *Node) (string, error) {
	m := mapping()
	put(m, string(n.Component.Kind), text(n.Component.Name))
	if !n.Component.IsRegistered() {
		if p.anywhere {
			return n.Component.Name, nil
		}
		return "", fmt.Errorf("it is made of a value of Go (%s), which has no name", n.Component.Name)
	}
	with, err := p.params(n, n.Component, n.Params)
	if err != nil {
		return "", err
	}
	put(m, "with", with)
	if !p.anywhere {
		p.putFolder(m, n)
	}
	if n.skips() {
		put(m, "on-error", text(n.Options.OnError.String()))
		put(m, "limits", writtenLimits(p.flow.Limits))
	}
	b, err := yaml.Dump(m, yaml.WithLineWidth(-1))
	return string(b), err
}

// skips reports whether the node says that it passes over samples that it cannot make:
// then bounds of time and of what files may claim may change which there are.
func (n *Node) skips() bool {
	return n.Options.OnError != nil && n.Options.OnError.Skip && n.makes()
}
