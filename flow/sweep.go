package flow

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// A sweep is a variable with several values.
type sweep struct {
	name   string
	values []*yaml.Node
}

// maxVariants bounds how many nodes one node can become.
const maxVariants = 10_000

// rawNode is a node of a file before its variables are replaced.
type rawNode struct {
	field
	*parser // of its file

	sweeps []bool // the sweeps that it depends on, directly or through its inputs
}

func (r *rawNode) name() string { return r.key.Value }

// sweep reads the variables with several values.
func (p *parser) sweep(n *yaml.Node) (all []sweep) {
	if len(p.chain) > 1 {
		p.at(n, "sweep belongs in the file that is run, not in one that is included")
		return nil
	}
	for _, f := range p.fields(n, "sweep") {
		s := sweep{name: f.key.Value}
		if _, ok := p.vars[s.name]; ok {
			p.at(f.key, "%q is in vars and in sweep; remove one", s.name)
		}
		if f.value.Kind != yaml.SequenceNode || len(f.value.Content) == 0 {
			p.at(f.value, "sweep %s must be a list of values, not %s", s.name, kindName(f.value))
			continue
		}
		for _, v := range f.value.Content {
			if v.Kind != yaml.ScalarNode {
				p.at(v, "a value of sweep %s must be a string or a number, not %s", s.name, kindName(v))
				continue
			}
			s.values = append(s.values, v)
		}
		if v, ok := p.outer[s.name]; ok {
			s.values = []*yaml.Node{v}
		}
		all = append(all, s)
	}
	return all
}

// expandNodes turns raw nodes into nodes. One that depends on a sweep becomes a
// node for each of its values, and so do its readers. All other nodes are
// shared.
func (p *parser) expandNodes() {
	p.findSweeps()
	for _, r := range p.raw {
		variants := []choice{{}}
		for i, s := range p.sweeps {
			if !r.sweeps[i] {
				continue
			}
			if len(variants)*len(s.values) > maxVariants {
				r.at(r.key, "node %s would become more than %d nodes", r.name(), maxVariants)
				return
			}
			var next []choice
			for _, c := range variants {
				for _, value := range s.values {
					next = append(next, append(slices.Clone(c), assignment{i, s.name, value}))
				}
			}
			variants = next
		}
		for _, c := range variants {
			p.variantOf(r, c)
		}
	}
}

// findSweeps finds the sweeps that each raw node depends on.
func (p *parser) findSweeps() {
	p.rawNamed = make(map[string]*rawNode, len(p.raw))
	readers := map[string][]*rawNode{}
	for _, r := range p.raw {
		p.rawNamed[r.name()] = r
		r.sweeps = make([]bool, len(p.sweeps))
		for _, name := range inputNames(r.value) {
			readers[name] = append(readers[name], r)
		}
	}
	for i, s := range p.sweeps {
		var open []*rawNode
		depends := func(r *rawNode) {
			if !r.sweeps[i] {
				r.sweeps[i], open = true, append(open, r)
			}
		}
		for _, r := range p.raw {
			if mentions(r.value, s.name) {
				depends(r)
			}
		}
		for len(open) > 0 {
			r := open[len(open)-1]
			open = open[:len(open)-1]
			for _, reader := range readers[r.name()] {
				depends(reader)
			}
		}
	}
}

func mentions(n *yaml.Node, name string) bool {
	return slices.Contains(VarsIn(n.Value), name) || slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return mentions(c, name) })
}

// inputNames returns the names of the inputs of a raw node.
func inputNames(n *yaml.Node) (names []string) {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "from" {
			names = scalars(n.Content[i+1])
		}
	}
	for i, name := range names {
		names[i], _, _ = strings.Cut(name, ".")
	}
	return names
}

// scalars returns the scalars in a list or in the values of a mapping, at any
// depth.
func scalars(n *yaml.Node) (all []string) {
	switch n.Kind {
	case yaml.ScalarNode:
		return []string{n.Value}
	case yaml.MappingNode:
		for i := 1; i < len(n.Content); i += 2 {
			all = append(all, scalars(n.Content[i])...)
		}
	default:
		for _, c := range n.Content {
			all = append(all, scalars(c)...)
		}
	}
	return all
}

// A choice selects one value of each sweep that a node depends on.
type choice []assignment

type assignment struct {
	sweep int
	name  string
	value *yaml.Node
}

var notInName = regexp.MustCompile(`[^A-Za-z0-9_+-]`)

// suffix returns what follows a node's name under this choice.
func (c choice) suffix(sweeps []bool) string {
	var parts []string
	for _, a := range c {
		if sweeps[a.sweep] {
			parts = append(parts, a.name+"="+notInName.ReplaceAllString(a.value.Value, "_"))
		}
	}
	if parts == nil {
		return ""
	}
	return "@" + strings.Join(parts, ",")
}

// variantOf builds one variant of a raw node.
func (p *parser) variantOf(r *rawNode, c choice) {
	for _, a := range c {
		r.vars[a.name] = a.value
		defer delete(r.vars, a.name)
	}
	n, ok := r.node(r.field)
	if !ok {
		return
	}
	n.Base = n.Name
	n.Name += c.suffix(r.sweeps)
	for i, in := range n.From {
		if from := p.rawNamed[in.Node]; from != nil {
			n.From[i].Node += c.suffix(from.sweeps)
		}
	}
	p.nodes = append(p.nodes, n)
}
