package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/mapper"
	"github.com/larder-data/larder/op"
)

// unusedResult: all results of a mapper are dropped or replaced before any node
// reads them.
func unusedResult(g *graph) (all []Warning) {
	for _, n := range g.Nodes {
		it := g.itemsOf(n)
		if it.open || len(it.makes) == 0 || slices.ContainsFunc(it.makes, func(item string) bool { return g.used(n, item) }) {
			continue
		}
		what, it1 := "item "+it.makes[0], "it"
		if len(it.makes) > 1 {
			what, it1 = "items "+strings.Join(it.makes, ", "), "them"
		}
		all = append(all, at(n, fmt.Sprintf("remove the node, or keep its items: %s", strings.Join(it.makes, ", ")),
			"it computes %s, but every later node drops or replaces %s before %s is read", what, it1, it1))
	}
	return all
}

// used reports whether a node reads an item of the output of n. Callers may
// open an output that has no reader in the flow.
func (g *graph) used(n *flow.Node, item string) bool {
	type used struct {
		*flow.Node
		item string
	}
	return once(g, used{n, item}, func() bool {
		return len(g.readers[n]) == 0 || slices.ContainsFunc(g.readers[n], func(r *flow.Node) bool {
			as, read := g.passes(r, item)
			return read || as != "" && g.used(r, as)
		})
	})
}

// passes reports whether a node may read an item. If not, it returns the name
// under which the node passes it on, or "".
func (g *graph) passes(n *flow.Node, item string) (as string, read bool) {
	switch p := n.Params.(type) {
	case mapper.DropKeys:
		return unless(slices.Contains(p.Keys, item), item), false
	case mapper.KeepKeys:
		return unless(!slices.Contains(p.Keys, item), item), false
	case mapper.Share:
		return item, false
	case mapper.Rename:
		if to, ok := p.Names[item]; ok {
			return to, false
		}
		return unless(p.Exclude, item), false
	}
	switch n.Component.Kind {
	case component.Map:
		it := g.itemsOf(n)
		return unless(slices.Contains(it.makes, item), item), it.any || it.open || slices.Contains(it.reads, item)
	case component.Op:
		return item, g.opReads(n, item)
	}
	return "", true
}

// unless returns item, or "" if it is gone.
func unless(gone bool, item string) string {
	if gone {
		return ""
	}
	return item
}

func (g *graph) opReads(n *flow.Node, item string) bool {
	texts, ok := expressions(n)
	if !ok || slices.ContainsFunc(texts, func(text string) bool { return namesIn(text, item) }) {
		return true
	}
	it := g.itemsOf(n)
	return is[op.MapIf](n) && (it.any || it.open || slices.Contains(it.reads, item))
}
