// Package render makes pictures of flows.
//
// A [Drawing] is a flow ready to be drawn: its nodes, or those that were asked
// for with all that they are made from, and the edges between them. [Of] makes
// it of a flow that was checked, and if a report is given adds what a run did at
// each node. It is written as a picture ([Drawing.SVG]), or in the languages of
// Graphviz ([Drawing.DOT]) and Mermaid ([Drawing.Mermaid]), which are laid out
// by whoever shows them.
//
// The picture is laid out here. Nodes stand in layers from left to right, each
// after all that it reads (layers.go); in a layer they are ordered so that few
// edges cross (cross.go); then each gets its height, so that long edges are
// straight (place.go); picture.go makes boxes and lines of that, and svg.go
// elements.
//
// The same flow and report give the same bytes each time. Texts of a flow, which
// may come from a stranger, are escaped, and shortened where there is no room;
// a picture names nothing outside itself. A Drawing does not change and may be
// used by many goroutines; the only errors are those of the writer. Nothing is
// run or read.
package render

import (
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
)

// Options say what is drawn of a flow.
type Options struct {
	// Report, if not nil, adds to each node what a run did there. What it says
	// of nodes that the flow does not have is left out.
	Report *flow.Report
	// Only names the nodes to draw, along with all that they are made from;
	// none means the whole flow. Names that the flow does not have are ignored.
	Only []string
}

// A Drawing is a flow ready to be drawn. It may be used by many goroutines.
type Drawing struct {
	name   string
	report *flow.Report // nil for none
	nodes  []node       // in the order of the file
	edges  []edge       // in the order of the file: by reader, then by input
}

// node is a node of a flow, with what is drawn of it.
type node struct {
	*flow.Node
	report *flow.NodeReport // nil for none
}

// edge is one input of a node.
type edge struct {
	from, to int    // indices of nodes
	input    int    // which of to's inputs
	output   string // the output that is picked; "" for all
	several  bool   // it carries several datasets
	stream   bool   // it carries a stream
	numbered bool   // to has other inputs, so it matters which this is
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

// ancestors returns the named nodes and all that they are made from; without
// names, all nodes.
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

// reportsOf returns what a report, if there is one, says of nodes, by their names.
func reportsOf(r *flow.Report) map[string]*flow.NodeReport {
	all := map[string]*flow.NodeReport{}
	if r != nil {
		for i := range r.Nodes {
			all[r.Nodes[i].Name] = &r.Nodes[i]
		}
	}
	return all
}

// pinned, kept and cached say what a node remembers, where that has an effect:
// a sink puts out nothing, a source's samples are on disk already, and samples
// in another order are the samples of the node before.

func (n node) pinned() bool {
	return (n.Options.Checkpoint || n.Options.Auto) && n.Component.Kind != component.Sink
}

func (n node) kept() bool {
	return n.Options.Keep && (n.Component.Kind == component.Map || n.Component.Kind == component.Op)
}

func (n node) cached() bool {
	return n.Options.Cache != nil && (n.Component.Kind == component.Source || n.Component.Kind == component.Map)
}

func (n node) failed() bool { return n.report != nil && n.report.Failed > 0 }
