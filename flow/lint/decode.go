package lint

import (
	"fmt"
	"slices"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/mapper"
	"github.com/larder-data/larder/op"
)

type decoding struct {
	by *flow.Node
	origin
}

// An origin is the item of a node that outputs images.
type origin struct {
	from *flow.Node
	item string
}

// repeatedDecode: nodes of two branches decode the same images separately,
// because no node between caches them.
func repeatedDecode(g *graph) (all []Warning) {
	found := map[origin][]*flow.Node{}
	lines := g.lines()
	for _, n := range g.Nodes {
		for _, d := range g.decodings(n) {
			same := found[d.origin]
			// Of two nodes on one path the second finds what the first has
			// decoded.
			if i := slices.IndexFunc(same, func(m *flow.Node) bool { return !lines.joins(m, n) }); i >= 0 {
				all = append(all, at(n, fmt.Sprintf("set cache: {policy: auto} at %s, or keep: true at both nodes", name(d.from)),
					"it decodes item %s of %s, as %s does in another branch, so each sample is decoded twice", d.item, name(d.from), same[i].Name))
			}
			found[d.origin] = append(same, n)
		}
	}
	return all
}

// lines numbers nodes so that the nodes on lines from a node follow it, up to
// the last of them.
type lines struct{ first, last map[*flow.Node]int }

func (g *graph) lines() lines {
	l := lines{map[*flow.Node]int{}, map[*flow.Node]int{}}
	single := func(n *flow.Node) bool { return !n.Component.Many && len(n.From) == 1 }
	var visit func(n *flow.Node)
	visit = func(n *flow.Node) {
		l.first[n] = len(l.first)
		for _, r := range g.readers[n] {
			if single(r) {
				visit(r)
			}
		}
		l.last[n] = len(l.first) - 1
	}
	for _, n := range g.order {
		if !single(n) {
			visit(n)
		}
	}
	return l
}

// joins reports whether a line leads from one of two nodes to the other.
func (l lines) joins(a, b *flow.Node) bool {
	leads := func(a, b *flow.Node) bool { return l.first[a] <= l.first[b] && l.first[b] <= l.last[a] }
	return leads(a, b) || leads(b, a)
}

// decodings returns the items that a node decodes in each run that writes a
// sink.
func (g *graph) decodings(n *flow.Node) (all []decoding) {
	if !n.Component.Images || !g.writes(n) || g.cachedBelow(n) {
		return nil
	}
	for _, item := range g.itemsOf(n).reads {
		if from := g.origin(n, item); from != nil {
			all = append(all, decoding{n, origin{from, item}})
		}
	}
	return all
}

// cachedBelow reports whether results of a node, or of one below, are cached
// across runs, so that later runs may not read the node.
func (g *graph) cachedBelow(n *flow.Node) bool {
	return g.keeps(n) || once(g, "keeps downstream", func() map[*flow.Node]bool { return g.downstream(g.keeps) })[n]
}

// origin goes up to the node that outputs an item, as long as each sample is
// passed on and no node caches it in memory. It returns nil if the path ends
// elsewhere.
func (g *graph) origin(by *flow.Node, item string) *flow.Node {
	type way struct {
		by   *flow.Node
		item string
	}
	return once(g, way{by, item}, func() *flow.Node {
		if by.From[0].Output != "" {
			return nil
		}
		n := g.byName[by.From[0].Node]
		it := items{}
		if n.Component.Kind == component.Map && !is[mapper.DropKeys](n) && !is[mapper.KeepKeys](n) && !is[mapper.Share](n) {
			it = g.itemsOf(n)
		}
		switch {
		case n.Options.Cache != nil || it.open:
			return nil
		case n.Component.Kind == component.Source || slices.Contains(it.makes, item):
			return n
		case !passesAll(n) && !is[op.Repeat](n):
			return nil
		}
		return g.origin(n, item)
	})
}
