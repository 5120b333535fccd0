// Package render provides pictures of flows.
//
// A [Drawing] is a flow ready to be drawn: its nodes, or the requested ones with
// all that they depend on, and the edges between them. [Of] creates it from a
// checked flow, and optionally adds what a run did at each node, from a report. It
// can be written as a picture ([Drawing.SVG]), or in the languages of Graphviz
// ([Drawing.DOT]) and Mermaid ([Drawing.Mermaid]), whose viewers do the layout.
//
// For SVG the layout is computed here. Nodes are in layers from left to right, each
// after its inputs (layers.go). In a layer they are ordered to reduce crossings
// (cross.go). Then each gets its y coordinate, so that long edges are straight
// (place.go). picture.go computes boxes and lines, and svg.go writes elements.
//
// The same flow and report give the same bytes. Strings of an untrusted flow are
// escaped, and shortened to fit. A picture has no external references. A Drawing is
// immutable and safe for concurrent use; the only errors are those of the writer.
// Nothing is run or read.
package render

import (
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
)

// Options say what to draw of a flow.
type Options struct {
	// Report, if not nil, adds to each node what a run did there. Unknown nodes in
	// it are ignored.
	Report *flow.Report
	// Only names the nodes to draw, with all that they depend on; none means the
	// whole flow. Unknown names are ignored.
	Only []string
}

// A Drawing is a flow ready to be drawn. It is safe for concurrent use.
type Drawing struct {
	name   string
	report *flow.Report // nil for none
	nodes  []node       // in the order of the file
	edges  []edge       // in the order of the file: by reader, then by input
}

// node is a node of a flow with its drawing data.
type node struct {
	*flow.Node
	report *flow.NodeReport // nil for none
}

// edge is one input of a node.
type edge struct {
	from, to int    // indexes of nodes
	input    int    // index among to's inputs
	output   string // the selected output; "" for all
	several  bool   // it carries several datasets
	stream   bool   // it carries a stream
	numbered bool   // to has other inputs, so the index matters
}

// Of prepares the drawing of a flow that was parsed or built without error.
func Of(f *flow.Flow, o Options) *Drawing {
	d := &Drawing{name: f.Name, report: o.Report}
	wanted := ancestors(f, o.Only)
	reports := reportsOf(o.Report)
	index := map[*flow.Node]int{}
	for _, n := range f.Nodes {
		if wanted[n] {
			index[n] = len(d.nodes)
			d.nodes = append(d.nodes, node{Node: n, report: reports[n.Name]})
		}
	}
	for to, n := range d.nodes {
		inputs := 0
		for _, in := range n.From {
			from, err := f.Node(in.Node)
			if err != nil {
				continue
			}
			d.edges = append(d.edges, edge{
				from: index[from], to: to, input: inputs, output: in.Output,
				several: in.Output == "" && f.HasOutputs(from), stream: f.IsStream(from),
			})
			inputs++
		}
		for i := len(d.edges) - inputs; i < len(d.edges); i++ {
			d.edges[i].numbered = inputs > 1
		}
	}
	return d
}

// ancestors returns the named nodes and all that they depend on; without names, all
// nodes.
func ancestors(f *flow.Flow, names []string) map[*flow.Node]bool {
	found := map[*flow.Node]bool{}
	var visit func(name string)
	visit = func(name string) {
		n, err := f.Node(name)
		if err != nil || found[n] {
			return
		}
		found[n] = true
		for _, in := range n.From {
			visit(in.Node)
		}
	}
	for _, name := range names {
		visit(name)
	}
	for _, n := range f.Nodes {
		found[n] = found[n] || len(names) == 0
	}
	return found
}

// reportsOf returns the node reports by name; r may be nil.
func reportsOf(r *flow.Report) map[string]*flow.NodeReport {
	all := map[string]*flow.NodeReport{}
	if r != nil {
		for i := range r.Nodes {
			all[r.Nodes[i].Name] = &r.Nodes[i]
		}
	}
	return all
}

// pinned, stored and cached report the caching of a node, where it has an effect. A
// sink has no output, the samples of a source are already on disk, and reordered
// samples are those of the input.

func (n node) pinned() bool {
	return (n.Options.Checkpoint || n.Options.Auto) && n.Component.Kind != component.Sink
}

func (n node) stored() bool {
	return n.Options.Keep && (n.Component.Kind == component.Map || n.Component.Kind == component.Op)
}

func (n node) cached() bool {
	return n.Options.Cache != nil && (n.Component.Kind == component.Source || n.Component.Kind == component.Map)
}

func (n node) failed() bool { return n.report != nil && n.report.Failed > 0 }
