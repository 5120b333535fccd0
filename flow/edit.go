package flow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/larder-data/larder/cache"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/internal/text/display"
)

// An Editor derives another flow from one, which it does not change:
//
//	e := f.Edit()
//	e.After("letters", "few", op.Slice{Stop: &ten})
//	e.Remove("stats")
//	g, err := e.Flow()
//
// Nodes have their names in the file; if a sweep made several of one, each is
// edited. Components are given as to a [Builder]. [Editor.Flow] returns all
// errors. An Editor must not be used concurrently.
type Editor struct {
	// Name is the name of the other flow. In a larder, checkpoints of flows
	// without a file replace each other if the flows have the same name and
	// directory.
	Name string
	// Nodes are copies of the flow's nodes, and the inserted ones. The caller
	// may set their parameters and options here.
	Nodes []*Node

	flow    *Flow
	builder *Builder // converts Go values to components
}

// Edit starts an edit of the flow.
func (f *Flow) Edit() *Editor {
	e := &Editor{Name: f.Name, flow: f, builder: NewBuilder(f.Name, f.Dir)}
	for _, n := range f.Nodes {
		e.Nodes = append(e.Nodes, n.copy())
	}
	return e
}

// copy returns a copy of the node without a position in a file.
func (n *Node) copy() *Node {
	c := *n
	c.pos, c.with, c.file = nil, nil, nil
	c.From = slices.Clone(n.From)
	for i := range c.From {
		c.From[i].pos = nil
	}
	if o := n.Options.Cache; o != nil {
		c.Options.Cache = &cache.Options{Policy: o.Policy, Size: o.Size, Bytes: o.Bytes}
	}
	if o := n.Options.OnError; o != nil {
		c.Options.OnError = &OnError{Skip: o.Skip, Most: o.Most, Percent: o.Percent}
	}
	return &c
}

// Find returns the nodes for which holds returns true.
func (e *Editor) Find(holds func(n *Node) bool) []*Node {
	return slices.DeleteFunc(slices.Clone(e.Nodes), func(n *Node) bool { return !holds(n) })
}

// Replace changes the component of a node; inputs, options and readers stay.
func (e *Editor) Replace(node string, what any) {
	for _, n := range e.Called(node) {
		e.set(n, what)
	}
}

// Wrap makes a mapper a part of another component, such as map-if or compose.
func (e *Editor) Wrap(node string, in func(step component.Step) any) {
	for _, n := range e.Called(node) {
		if n.Component.Kind != component.Map {
			e.wrong(n, "%s %s cannot be wrapped; choose a mapper", n.Component.Kind, n.Component.Name)
			continue
		}
		e.set(n, in(component.Step{Component: n.Component, Params: n.Params}))
	}
}

// Remove removes a node. Its readers then read its inputs.
func (e *Editor) Remove(node string) {
	for _, n := range e.Called(node) {
		e.Nodes = slices.DeleteFunc(e.Nodes, func(m *Node) bool { return m == n })
		for _, r := range e.readers(n) {
			if len(n.From) == 0 {
				e.wrong(n, "a source reads nothing, so %s would have no input; replace the source", r.Name)
			}
			r.redirect(n.Name, func(Input) []Input { return n.From })
		}
	}
}

// After inserts a node that reads the given node and replaces it as input of
// its readers.
func (e *Editor) After(node, name string, what any) {
	for _, n := range e.Called(node) {
		readers := e.readers(n)
		to := e.add(n, name, what, Input{Node: n.Name})
		for _, r := range readers {
			r.redirect(n.Name, func(in Input) []Input { return []Input{{Node: to.Name, Output: in.Output}} })
		}
	}
}

// Before inserts a node that reads the inputs of the given node, and is read by
// that node alone.
func (e *Editor) Before(node, name string, what any) {
	for _, n := range e.Called(node) {
		to := e.add(n, name, what, n.From...)
		n.From = []Input{{Node: to.Name}}
	}
}

// Flow checks the flow, which has neither a file nor variables. The Editor must
// not be used afterwards.
func (e *Editor) Flow() (*Flow, error) {
	for _, n := range e.Nodes {
		if n.Options.Workers < 0 {
			e.wrong(n, "workers is %d; give 0 or more", n.Options.Workers)
		}
		if err := n.Component.Check(n.Params); err != nil {
			e.wrong(n, "%s", display.Error(err))
		}
	}
	if errs := e.builder.problems.sorted(); errs != nil {
		return nil, errs
	}
	g, err := New(e.Name, e.flow.Dir, e.Nodes...)
	if err != nil {
		return nil, err
	}
	g.Limits = e.flow.Limits
	return g, nil
}

// Called returns the nodes with a name, or those that have this name in the
// file. If there are none, [Editor.Flow] returns an error.
func (e *Editor) Called(name string) []*Node {
	all := e.Find(func(n *Node) bool { return n.Name == name || n.Base == name && name != "" })
	if len(all) == 0 {
		var names []string
		for _, n := range e.Nodes {
			names = append(names, n.Name)
		}
		e.builder.problems.add(0, 0, fmt.Sprintf("unknown node %q%s", name, component.Suggest(name, names)))
	}
	return all
}

// Fail makes [Editor.Flow] return err. It is for functions that edit flows.
func (e *Editor) Fail(err error) { e.builder.problems.add(0, 0, err.Error()) }

func (e *Editor) wrong(n *Node, format string, args ...any) {
	e.builder.problems.add(0, 0, "node "+n.Name+": "+fmt.Sprintf(format, args...))
}

func (e *Editor) set(n *Node, what any) {
	c, params, err := component.Of(what)
	if err != nil {
		e.wrong(n, "%v", err)
		return
	}
	n.Component, n.Params = c, params
	e.builder.fill(n)
}

// add adds a node next to another one. Its name gets the sweep values of that
// node.
func (e *Editor) add(near *Node, name string, what any, from ...Input) *Node {
	n := &Node{Dir: near.Dir, From: slices.Clone(from)}
	n.Name = name + strings.TrimPrefix(near.Name, near.Base)
	if near.Base == "" {
		n.Name = name
	} else {
		n.Base = name
	}
	if !nodeName.MatchString(name) {
		e.wrong(n, "the name of a node may have letters, digits, _ and - only")
	}
	e.set(n, what)
	if n.Component != nil {
		at := slices.Index(e.Nodes, near)
		e.Nodes = slices.Insert(e.Nodes, at+1, n)
	}
	return n
}

func (e *Editor) readers(n *Node) []*Node {
	return e.Find(func(r *Node) bool {
		return slices.ContainsFunc(r.From, func(in Input) bool { return in.Node == n.Name })
	})
}

// redirect replaces the inputs of n from one node.
func (n *Node) redirect(from string, to func(in Input) []Input) {
	var all []Input
	for _, in := range n.From {
		if in.Node == from {
			all = append(all, to(in)...)
		} else {
			all = append(all, in)
		}
	}
	n.From = all
}
