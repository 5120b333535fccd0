package lint

import (
	"context"
	"iter"
	"slices"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
)

// graph is a flow as the rules look at it.
type graph struct {
	*flow.Flow
	Options
	ctx     context.Context
	byName  map[string]*flow.Node
	readers map[*flow.Node][]*flow.Node
	counts  map[*flow.Node]count
	items   map[*flow.Node]items
}

func newGraph(ctx context.Context, f *flow.Flow, o Options) *graph {
	g := &graph{
		Flow: f, Options: o, ctx: ctx, byName: map[string]*flow.Node{}, readers: map[*flow.Node][]*flow.Node{},
		counts: map[*flow.Node]count{}, items: map[*flow.Node]items{},
	}
	for _, n := range f.Nodes {
		g.byName[n.Name] = n
	}
	for _, n := range f.Nodes {
		for _, in := range n.From {
			from := g.byName[in.Node]
			g.readers[from] = append(g.readers[from], n)
		}
	}
	return g
}

// line goes up from a node through what reads one dataset, the nearest first. It ends
// at a join: what others bring in is not known to be the same samples.
func (g *graph) line(n *flow.Node) iter.Seq[*flow.Node] {
	return func(yield func(*flow.Node) bool) {
		for !n.Component.Many && len(n.From) == 1 {
			if n = g.byName[n.From[0].Node]; !yield(n) {
				return
			}
		}
	}
}

// above goes through all nodes that a node is made of, each once.
func (g *graph) above(n *flow.Node) iter.Seq[*flow.Node] {
	return spread(n, func(n *flow.Node) (all []*flow.Node) {
		for _, in := range n.From {
			all = append(all, g.byName[in.Node])
		}
		return all
	})
}

// below goes through all nodes that are made of a node, each once.
func (g *graph) below(n *flow.Node) iter.Seq[*flow.Node] {
	return spread(n, func(n *flow.Node) []*flow.Node { return g.readers[n] })
}

// spread goes through what can be reached from a node, each once.
func spread(n *flow.Node, next func(*flow.Node) []*flow.Node) iter.Seq[*flow.Node] {
	return func(yield func(*flow.Node) bool) {
		seen := map[*flow.Node]bool{}
		for open := slices.Clone(next(n)); len(open) > 0; {
			m := open[len(open)-1]
			open = open[:len(open)-1]
			if seen[m] {
				continue
			}
			seen[m] = true
			if !yield(m) {
				return
			}
			open = append(open, next(m)...)
		}
	}
}

// writes reports whether a sink writes what a node is part of.
func (g *graph) writes(n *flow.Node) bool {
	for m := range g.below(n) {
		if m.Component.Kind == component.Sink {
			return true
		}
	}
	return false
}

// keeps reports whether results of a node are kept across runs.
func (g *graph) keeps(n *flow.Node) bool { return n.Options.Keep || g.Pins(n.Name) }

// as returns the parameters of a node if they are those of one component.
func as[P any](n *flow.Node) (P, bool) {
	p, ok := n.Params.(P)
	return p, ok
}

// is reports whether a node is of one component.
func is[P any](n *flow.Node) bool {
	_, ok := as[P](n)
	return ok
}
