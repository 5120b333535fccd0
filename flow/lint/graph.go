package lint

import (
	"context"
	"slices"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
)

// graph is a flow, prepared for the rules.
type graph struct {
	*flow.Flow
	Options
	ctx     context.Context
	byName  map[string]*flow.Node
	readers map[*flow.Node][]*flow.Node
	order   []*flow.Node // every node after its inputs
	counts  map[*flow.Node]count
	items   map[*flow.Node]items
	memo    map[any]any // of [once]
}

func newGraph(ctx context.Context, f *flow.Flow, o Options) *graph {
	g := &graph{
		Flow: f, Options: o, ctx: ctx, byName: map[string]*flow.Node{}, readers: map[*flow.Node][]*flow.Node{},
		counts: map[*flow.Node]count{}, items: map[*flow.Node]items{}, memo: map[any]any{},
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
	g.sort()
	return g
}

func (g *graph) sort() {
	left := map[*flow.Node]int{}
	for _, n := range g.Nodes {
		if left[n] = len(n.From); left[n] == 0 {
			g.order = append(g.order, n)
		}
	}
	for i := 0; i < len(g.order); i++ {
		for _, r := range g.readers[g.order[i]] {
			if left[r]--; left[r] == 0 {
				g.order = append(g.order, r)
			}
		}
	}
}

// nearest finds for each node the nearest one upstream in its line for which
// holds is true. A line follows the readers of one dataset and ends at a join,
// because other inputs may have other samples.
func (g *graph) nearest(holds func(n *flow.Node) bool) map[*flow.Node]*flow.Node {
	found := map[*flow.Node]*flow.Node{}
	for _, n := range g.order {
		if n.Component.Many || len(n.From) != 1 {
			continue
		}
		from := g.byName[n.From[0].Node]
		if found[n] = found[from]; holds(from) {
			found[n] = from
		}
	}
	return found
}

// upstream reports for each node whether holds is true for any node upstream of it.
func (g *graph) upstream(holds func(n *flow.Node) bool) map[*flow.Node]bool {
	above := map[*flow.Node]bool{}
	for _, n := range g.order {
		above[n] = slices.ContainsFunc(n.From, func(in flow.Input) bool {
			from := g.byName[in.Node]
			return above[from] || holds(from)
		})
	}
	return above
}

// downstream reports for each node whether holds is true for any node downstream of it.
func (g *graph) downstream(holds func(n *flow.Node) bool) map[*flow.Node]bool {
	below := map[*flow.Node]bool{}
	for _, n := range slices.Backward(g.order) {
		below[n] = slices.ContainsFunc(g.readers[n], func(r *flow.Node) bool { return below[r] || holds(r) })
	}
	return below
}

// once returns the result of find for an id. It calls find the first time only.
func once[T any](g *graph, id any, find func() T) T {
	if found, ok := g.memo[id]; ok {
		return found.(T)
	}
	found := find()
	g.memo[id] = found
	return found
}

func (g *graph) writes(n *flow.Node) bool {
	return once(g, "writes", func() map[*flow.Node]bool {
		return g.downstream(func(n *flow.Node) bool { return n.Component.Kind == component.Sink })
	})[n]
}

// keeps reports whether results of a node are cached across runs.
func (g *graph) keeps(n *flow.Node) bool { return n.Options.Keep || g.Pins(n.Name) }

// as returns the parameters of a node if they have type P.
func as[P any](n *flow.Node) (P, bool) {
	p, ok := n.Params.(P)
	return p, ok
}

// is reports whether the parameters of a node have type P.
func is[P any](n *flow.Node) bool {
	_, ok := as[P](n)
	return ok
}
