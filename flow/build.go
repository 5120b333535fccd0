package flow

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/internal/text/display"
)

// A Builder builds a flow in Go:
//
//	b := flow.NewBuilder("letters", ".")
//	letters := b.Add("letters", underfolder.Source{Path: "data"})
//	stats := b.Add("stats", mapper.ImageStats{}, letters).With(flow.Options{Checkpoint: true})
//	parts := b.Add("parts", op.Chunk{N: 2}, stats)
//	b.Add("out", underfolder.Sink{Path: "out"}, parts.Output("0"))
//	f, err := b.Flow()
//
// [Builder.Flow] returns all errors. A Builder must not be used concurrently.
type Builder struct {
	name, dir string
	problems  *problems
	nodes     []*Node
}

// NewBuilder starts a flow. Relative paths start at dir.
func NewBuilder(name, dir string) *Builder {
	return &Builder{name: name, dir: dir, problems: &problems{file: name}}
}

// An Edge is the output of a node as an input for others: all of its datasets,
// or one of them.
type Edge struct {
	node   *Node
	output string
}

// Add adds a node. Its component is given by the parameters of a registered
// component, in which zero values take their defaults. It may also be anything
// else that [component.Of] accepts: a dataset, a mapper, a function. A node
// without a name is named after its component.
func (b *Builder) Add(name string, what any, from ...Edge) Edge {
	n := &Node{Name: name}
	for _, e := range from {
		n.From = append(n.From, Input{Node: e.node.Name, Output: e.output})
	}
	var err error
	if n.Component, n.Params, err = component.Of(what); err != nil {
		b.problems.add(0, 0, fmt.Sprintf("node %s: %v", name, err))
		return Edge{node: n}
	}
	switch {
	case name == "":
		n.Name = b.freeName(n.Component)
	case !nodeName.MatchString(name):
		b.problems.add(0, 0, fmt.Sprintf("%q cannot name a node; use letters, digits, _ and - only", name))
	}
	b.fill(n)
	b.nodes = append(b.nodes, n)
	return Edge{node: n}
}

// With sets the options of the node, and returns the same edge.
func (e Edge) With(o Options) Edge {
	e.node.Options = o
	return e
}

// Output selects the dataset called name from the outputs of the node.
func (e Edge) Output(name string) Edge { return Edge{node: e.node, output: name} }

// Flow checks the flow. The Builder must not be used afterwards.
func (b *Builder) Flow() (*Flow, error) {
	if errs := b.problems.sorted(); errs != nil {
		return nil, errs
	}
	return New(b.name, b.dir, b.nodes...)
}

// freeName returns an unused name for a node of a component.
func (b *Builder) freeName(c *component.Component) string {
	base := c.Name
	if !nodeName.MatchString(base) {
		base = string(c.Kind)
	}
	for i := 1; ; i++ {
		name := fmt.Sprintf("%s-%d", base, i)
		if !slices.ContainsFunc(b.nodes, func(n *Node) bool { return n.Name == name }) {
			return name
		}
	}
}

// fill sets parameters that are zero to their defaults, and checks all of them
// like those of a file.
func (b *Builder) fill(n *Node) {
	v := reflect.New(n.Component.Type).Elem()
	v.Set(reflect.ValueOf(n.Params))
	p := &parser{problems: &problems{}}
	for _, param := range n.Component.Params {
		f := v.Field(param.Field)
		if f.IsZero() {
			p.setDefault(param, f)
		}
		if param.Required && f.IsZero() && !mayBeZero(f.Kind()) {
			p.add(0, 0, fmt.Sprintf("needs the parameter %s: %s", param.Name, param.Doc))
		}
		if param.Enum != nil && f.Kind() == reflect.String && !slices.Contains(param.Enum, f.String()) {
			p.add(0, 0, fmt.Sprintf("%s cannot be %q; valid: %v", param.Name, f.String(), param.Enum))
		}
	}
	n.Params = v.Interface()
	if len(p.list) == 0 {
		if err := n.Component.Check(n.Params); err != nil {
			p.add(0, 0, display.Error(err))
		}
	}
	for _, e := range p.list {
		b.problems.add(0, 0, fmt.Sprintf("node %s: %s", n.Name, e.Msg))
	}
}

// mayBeZero reports whether a zero of this kind may be a value rather than a
// missing one.
func mayBeZero(k reflect.Kind) bool {
	return k == reflect.Int || k == reflect.Int64 || k == reflect.Float64 || k == reflect.Bool
}
