package lint

import (
	"fmt"
	"slices"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/mapper"
	"github.com/larder-data/larder/op"
)

// A decoding is a node that decodes images, and the way that they come to it.
type decoding struct {
	by   *flow.Node
	from *flow.Node // which puts them out
	item string
	way  []*flow.Node // between the two
}

// repeatedDecode: nodes of two branches decode the same images, each for itself, as
// nothing between keeps them.
func repeatedDecode(g *graph) (all []Warning) {
	var found []decoding
	for _, n := range g.Nodes {
		for _, d := range g.decodings(n) {
			if i := slices.IndexFunc(found, d.again); i >= 0 {
				all = append(all, at(n, fmt.Sprintf("cache: {policy: auto} at %s, or keep what the two make", name(d.from)),
					"it decodes item %s of %s, which %s decodes as well in a branch of its own: each sample twice in a run", d.item, name(d.from), found[i].by.Name))
			}
			found = append(found, d)
		}
	}
	return all
}

// again reports whether another node decodes the same in another branch. Of two nodes
// on one way the second finds what the first has decoded.
func (d decoding) again(e decoding) bool {
	return d.from == e.from && d.item == e.item && !slices.Contains(d.way, e.by) && !slices.Contains(e.way, d.by)
}

// decodings are the items that a node decodes in each run in which a sink is written.
func (g *graph) decodings(n *flow.Node) (all []decoding) {
	if !n.Component.Images || !g.writes(n) || g.keptBelow(n) {
		return nil
	}
	for _, item := range g.itemsOf(n).reads {
		if d, ok := g.origin(n, item); ok {
			all = append(all, d)
		}
	}
	return all
}

// keptBelow reports whether results of a node, or of one below, are kept across runs, so
// that it may not be asked again.
func (g *graph) keptBelow(n *flow.Node) bool {
	if g.keeps(n) {
		return true
	}
	for m := range g.below(n) {
		if g.keeps(m) {
			return true
		}
	}
	return false
}

// origin goes up to what puts out an item that a node reads, as long as each sample is
// passed on and nothing keeps it in memory. ok is false if that ends elsewhere.
func (g *graph) origin(by *flow.Node, item string) (d decoding, ok bool) {
	d = decoding{by: by, item: item}
	for n := by; ; {
		if n.From[0].Output != "" {
			return d, false
		}
		n = g.byName[n.From[0].Node]
		it := items{}
		if n.Component.Kind == component.Map && !is[mapper.DropKeys](n) && !is[mapper.KeepKeys](n) && !is[mapper.Share](n) {
			it = g.itemsOf(n)
		}
		switch {
		case n.Options.Cache != nil || it.open:
			return d, false
		case n.Component.Kind == component.Source || slices.Contains(it.makes, item):
			d.from = n
			return d, true
		case !passesAll(n) && !is[op.Repeat](n):
			return d, false
		}
		d.way = append(d.way, n)
	}
}
