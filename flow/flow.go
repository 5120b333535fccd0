// Package flow provides graphs of datasets that are read from YAML or built in
// Go. It checks a graph before anything runs, and a run computes only what
// changed.
//
// A [Flow] has nodes. A [Node] is a source, a mapper, an operator or a sink
// (package component) with parameters, inputs, and [Options] for caching: keep,
// checkpoint, cache. An input is all outputs of a node, or one of them by name.
// [Parse] reads a flow file, with its includes and variables; a [Builder]
// creates the same nodes in Go.
//
// [Flow.Plan] reports what would be computed and why, and computes nothing.
// [Flow.Run] computes the checkpoints and writes the sinks, or runs the named
// nodes only. It returns a [Report] and passes each [Event] to observers.
// [Flow.Open] returns the output of a node, to be read sample by sample.
// Outputs without a reader are not computed. An [Executor] computes a [Range] of
// the output of a node, so several processes can share the work. Each of them
// gets the flow as its [Bundle].
//
// A Flow is immutable and may be run many times, also concurrently. In a run
// each node starts when its inputs are done. Together, the nodes work on a
// bounded number of samples at a time. The first error ends a run, as does the
// end of the context; results computed until then stay cached.
//
// Errors in a file are returned together, as [Errors], each with line and
// column. An error that wraps [ErrRequest] means that the request was invalid
// and nothing was started. Other errors name the node and, if there is one, the
// sample.
package flow

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/key"
)

// A Flow is a checked graph of nodes.
type Flow struct {
	Name  string
	File  string   // absolute; "" if built in Go
	Files []string // File and its includes
	Dir   string   // where relative paths start
	Nodes []*Node
	// Limits are those of File; included files have none.
	Limits Limits

	texts    *texts            // nil if built in Go
	vars     map[string]string // as given
	epoch    *yaml.Node        // the variable for a loader's epoch; nil if there is none
	problems *problems
	included []*problems // of the included files
	byName   map[string]*Node
	byBase   map[string][]*Node // variants of a sweep, by name in the file
	order    []*Node            // every node after its inputs
	several  map[*Node]bool
	streams  map[*Node]bool
	reach    map[*Node]bool // nodes that a checkpoint depends on
}

// New checks a graph built in Go. Relative paths start at dir.
func New(name, dir string, nodes ...*Node) (*Flow, error) {
	f := &Flow{Name: name, Dir: dir, Nodes: nodes, problems: &problems{file: name}}
	f.check()
	return f, f.err()
}

func (f *Flow) err() error {
	all := f.problems.sorted()
	for _, p := range f.included {
		all = append(all, p.sorted()...)
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// Node returns the node called name, or an error that suggests the nearest
// names.
func (f *Flow) Node(name string) (*Node, error) {
	if n := f.byName[name]; n != nil {
		return n, nil
	}
	return nil, fmt.Errorf("unknown node %q%s", name, component.Suggest(name, f.names()))
}

func (f *Flow) names() []string {
	names := make([]string, len(f.Nodes))
	for i, n := range f.Nodes {
		names[i] = n.Name
	}
	return names
}

// check records all errors of the graph, and sorts it.
func (f *Flow) check() {
	f.nameNodes()
	for _, n := range f.Nodes {
		f.checkInputs(n)
		f.checkOptions(n)
	}
	f.checkVariants()
	f.sort()
	f.reach = f.reachCheckpoint()
	f.findOutputs()
	for _, n := range f.Nodes {
		f.checkOutputs(n)
		f.checkSingle(n)
	}
	if f.err() == nil {
		f.findStreams()
		f.checkMappers()
	}
}

func (f *Flow) nameNodes() {
	f.byName, f.byBase = make(map[string]*Node, len(f.Nodes)), map[string][]*Node{}
	for _, n := range f.Nodes {
		if f.byName[n.Name] != nil {
			f.wrong(n, "two nodes are named %q; rename one", n.Name)
			continue
		}
		f.byName[n.Name] = n
		if n.Name != n.Base {
			f.byBase[n.Base] = append(f.byBase[n.Base], n)
		}
	}
}

func (f *Flow) wrong(n *Node, format string, args ...any) {
	f.wrongAt(n, Input{pos: n.pos}, format, args...)
}

func (f *Flow) wrongAt(n *Node, in Input, format string, args ...any) {
	if in.pos != nil {
		n.file.at(in.pos, format, args...)
		return
	}
	f.problems.add(0, 0, "node "+n.Name+": "+fmt.Sprintf(format, args...))
}

// checkInputs refuses inputs that are missing, too many or not nodes.
func (f *Flow) checkInputs(n *Node) {
	c := n.Component
	switch {
	case c.Kind == component.Source && len(n.From) > 0:
		f.wrong(n, "source %s reads no node; remove from", n.Name)
	case c.Kind != component.Source && len(n.From) == 0:
		f.wrong(n, "%s %s has no input; add from: NODE", c.Kind, n.Name)
	case c.Kind != component.Source && len(n.From) > 1 && !c.Many:
		f.wrongAt(n, n.From[1], "%s %s reads one node, not %d; join them first with cat or zip", c.Kind, c.Name, len(n.From))
	}
	for _, in := range n.From {
		from, err := f.Node(in.Node)
		if err != nil {
			f.wrongAt(n, in, "%v", err)
			continue
		}
		if from.Component.Kind == component.Sink {
			f.wrongAt(n, in, "node %s is a sink without output; %s cannot read it", in.Node, n.Name)
		}
	}
}

func (f *Flow) findOutputs() {
	f.several = map[*Node]bool{}
	for _, n := range f.order {
		f.several[n] = n.Component.Outs || !n.Component.Many && slices.ContainsFunc(n.From, func(in Input) bool {
			from, err := f.Node(in.Node)
			return err == nil && in.Output == "" && f.several[from]
		})
	}
}

// HasOutputs reports whether a node of the flow outputs several datasets.
// Operators that split do, and so do nodes applied to each of several datasets.
func (f *Flow) HasOutputs(n *Node) bool { return f.several[n] }

// checkOutputs refuses reading one output of a node that has only one, and
// reading all of several where one is needed.
func (f *Flow) checkOutputs(n *Node) {
	for _, in := range n.From {
		from, err := f.Node(in.Node)
		switch {
		case err != nil:
		case in.Output != "" && !f.several[from]:
			f.wrongAt(n, in, "node %s has a single output; write %s, not %s", in.Node, in.Node, in)
		case in.Output == "" && f.several[from] && n.Component.Outs && !n.Component.Many:
			f.wrongAt(n, in, "%s %s reads one dataset, but node %s has several outputs; write %s.NAME", n.Component.Kind, n.Component.Name, in.Node, in.Node)
		}
	}
}

// checkSingle refuses sink parameters that are wrong for a single dataset.
func (f *Flow) checkSingle(n *Node) {
	if c, ok := component.As[component.SingleChecker](n.Params); ok && n.Component.Kind == component.Sink && !f.several[n] {
		if err := c.CheckSingle(); err != nil {
			f.wrongAt(n, Input{pos: n.with}, "%s: %s", n.Component.Name, display.Error(err))
		}
	}
}

// checkOptions refuses caching options on nodes whose results cannot be cached.
func (f *Flow) checkOptions(n *Node) {
	if o, k := n.Options.OnError, n.Component.Kind; o != nil && o.Skip && n.ownOnError && k != component.Source && k != component.Map && !n.Component.Maps {
		f.wrong(n, "%s %s cannot skip samples; set on-error at a source or mapper", k, n.Component.Name)
	}
	if n.Component.Kind != component.Sink {
		return
	}
	if n.Options.Checkpoint || n.Options.Auto {
		f.wrong(n, "sink %s cannot be a checkpoint, because it has no output; remove checkpoint", n.Name)
	}
}

// checkVariants refuses variants of a sink that would overwrite each other.
func (f *Flow) checkVariants() {
	type variant struct {
		base   string
		params key.Digest
	}
	first := map[variant]*Node{}
	for _, n := range f.Nodes {
		if n.Component.Kind != component.Sink || n.Base == "" {
			continue
		}
		params, err := key.Of(n.Params)
		if err != nil {
			continue // a Go value, which has no variants of a file
		}
		v := variant{n.Base, params}
		if m := first[v]; m != nil {
			f.wrong(n, "nodes %s and %s write the same path; use the variable of the sweep in the path", m.Name, n.Name)
			continue
		}
		first[v] = n
	}
}

// sort puts every node after its inputs, and otherwise follows the order of the
// file. It records a cycle as an error.
func (f *Flow) sort() {
	f.order = nil
	const open, closed = 1, 2
	state := map[*Node]int{}
	var visit func(n *Node, path []string)
	visit = func(n *Node, path []string) {
		path = append(path, n.Name)
		switch state[n] {
		case closed:
			return
		case open:
			start := slices.Index(path, n.Name)
			f.wrong(n, "node %s reads itself: %s", n.Name, strings.Join(path[start:], " <- "))
			return
		}
		state[n] = open
		for _, in := range n.From {
			if from, err := f.Node(in.Node); err == nil {
				visit(from, path)
			}
		}
		state[n] = closed
		f.order = append(f.order, n)
	}
	for _, n := range f.Nodes {
		visit(n, nil)
	}
}

// checkMappers builds every mapper once, including those inside operators, so
// that wrong parameters are reported before anything runs.
func (f *Flow) checkMappers() {
	for _, n := range f.Nodes {
		env := &component.Env{Node: n.Name, Dir: n.dir(f), Checked: true}
		for _, s := range n.steps() {
			if _, err := s.Mapper(env); err != nil {
				f.wrongAt(n, Input{pos: n.with}, "%s: %s", s.Component.Name, display.Error(err))
			}
		}
	}
}

// steps lists the mappers of a node: itself, or those among its parameters.
func (n *Node) steps() (all []component.Step) {
	if n.Component.Kind == component.Map {
		return []component.Step{{Component: n.Component, Params: n.Params}}
	}
	v := reflect.ValueOf(n.Params)
	for _, p := range n.Component.Params {
		switch s := v.Field(p.Field).Interface().(type) {
		case component.Step:
			all = append(all, s)
		case []component.Step:
			all = append(all, s...)
		}
	}
	return all
}

// Mappers builds the mappers that a node applies, so that the caller can read
// their inputs and outputs. It starts no external process.
func (f *Flow) Mappers(n *Node) ([]dataset.Mapper, error) {
	var all []dataset.Mapper
	for _, s := range n.steps() {
		m, err := s.Mapper(&component.Env{Node: n.Name, Dir: n.dir(f), Checked: true})
		if err != nil {
			return nil, fmt.Errorf("node %s: %w", n.Name, err)
		}
		all = append(all, m)
	}
	return all, nil
}

// needed returns the nodes that must be built for the given targets, in order.
func (f *Flow) needed(targets []*Node) []*Node {
	need := map[*Node]bool{}
	for _, n := range targets {
		need[n] = true
	}
	for _, n := range slices.Backward(f.order) {
		if !need[n] {
			continue
		}
		for _, in := range n.From {
			if from, err := f.Node(in.Node); err == nil {
				need[from] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(f.order), func(n *Node) bool { return !need[n] })
}

// dir returns the directory where relative paths of a node start.
func (n *Node) dir(f *Flow) string { return cmp.Or(n.Dir, f.Dir) }

// variants returns the nodes that a node of the file became by a sweep.
func (f *Flow) variants(base string) []*Node { return f.byBase[base] }
