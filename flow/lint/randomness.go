package lint

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/op"
)

// random reports whether a node computes its samples with random draws.
func (g *graph) random(n *flow.Node) bool {
	type random struct{ *flow.Node }
	return once(g, random{n}, func() bool { return g.findRandom(n) })
}

func (g *graph) findRandom(n *flow.Node) bool {
	if p, ok := as[op.MapIf](n); ok && p.Probability != nil && *p.Probability > 0 && *p.Probability < 1 {
		return true
	}
	mappers, err := g.Mappers(n)
	for _, m := range mappers {
		if transform, ok := m.(dataset.Transform); err == nil && ok && transform.Random() != nil {
			return true
		}
	}
	return false
}

// randomBeforeKeep: a random result is cached, and returned again in every
// epoch. That is intended for a dataset that is written, and for variants made
// by repeat.
func randomBeforeKeep(g *graph) (all []Warning) {
	for _, n := range g.Nodes {
		if !g.random(n) || g.drawsAgain(n) || g.writes(n) || g.variants(n) {
			continue
		}
		if by := g.cachedBy(n); by != nil {
			all = append(all, at(n, fmt.Sprintf("keep what comes before %s, and give it epoch: \"${epoch}\", which a loader sets", name(n)),
				"its random result is cached%s and does not depend on the epoch, so each epoch has the same samples", where(n, by)))
		}
	}
	return all
}

// fixedDraw: the draws of a node are the same in every epoch, because its epoch
// is a number. The parts of a split must be fixed, and so may be what is
// written or cached. For cached draws, [randomBeforeKeep] warns.
func fixedDraw(g *graph) (all []Warning) {
	for _, n := range g.Nodes {
		if g.drawsAgain(n) || g.writes(n) || !g.random(n) && (!drawsSamples(n) || g.divided(n)) || g.random(n) && (g.variants(n) || g.cachedBy(n) != nil) {
			continue
		}
		all = append(all, at(n, "give it epoch: \"${epoch}\", a variable (vars: {epoch: 0}) that a loader sets",
			"its epoch is a fixed number, so a loader gets the same draw in each epoch"))
	}
	return all
}

// drawsSamples reports whether a node draws which samples it passes on, or
// their order.
func drawsSamples(n *flow.Node) bool {
	return n.Component.Kind == component.Op && !is[op.MapIf](n) &&
		slices.ContainsFunc(n.Component.Params, func(p component.Param) bool { return p.Name == "epoch" })
}

// divided reports whether a reader selects samples of a node by position.
func (g *graph) divided(n *flow.Node) bool {
	return once(g, "divided below", func() map[*flow.Node]bool {
		return g.downstream(func(n *flow.Node) bool {
			return is[op.Split](n) || is[op.Chunk](n) || is[op.Slice](n) || is[op.Index](n)
		})
	})[n]
}

// where names the node that caches, if it is another one.
func where(n, by *flow.Node) string {
	if n == by {
		return ""
	}
	return " by " + name(by)
}

// drawsAgain reports whether variables determine the epoch of the node or of one
// of its mappers.
func (g *graph) drawsAgain(n *flow.Node) bool {
	if n.Varies("") {
		return true
	}
	for _, p := range n.Component.Params {
		v := reflect.ValueOf(n.Params).Field(p.Field)
		if (p.Name == "epoch" || len(component.Steps(v.Interface())) > 0) && n.Varies(p.Name) {
			return true
		}
	}
	return false
}

// variants reports whether the input of a node has repeated or drawn samples,
// so that it computes several results for each.
func (g *graph) variants(n *flow.Node) bool {
	return once(g, "variants above", func() map[*flow.Node]bool {
		return g.upstream(func(m *flow.Node) bool {
			return g.repeats(m) || is[op.Sample](m) || is[op.WeightedSample](m) || is[op.Mix](m)
		})
	})[n]
}

// cachedBy returns the node that caches the results of a node or results computed
// from them; or nil.
func (g *graph) cachedBy(n *flow.Node) *flow.Node {
	if g.keeps(n) {
		return n
	}
	return g.cachedAfter(n, g.itemsOf(n).makes)
}

// cachedAfter returns the downstream node that caches results computed from some
// items, directly or indirectly; or nil.
func (g *graph) cachedAfter(n *flow.Node, items []string) *flow.Node {
	type cached struct {
		after *flow.Node
		of    string
	}
	items = slices.Compact(slices.Sorted(slices.Values(items)))
	return once(g, cached{n, strings.Join(items, "\x00")}, func() *flow.Node { return g.findCachedAfter(n, items) })
}

func (g *graph) findCachedAfter(n *flow.Node, items []string) *flow.Node {
	for _, r := range g.readers[n] {
		var on []string
		reads := false
		for _, item := range items {
			as, read := g.passes(r, item)
			if reads = reads || read; as != "" {
				on = append(on, as)
			}
		}
		if reads && g.keeps(r) && r.Component.Kind != component.Sink {
			return r
		}
		if reads {
			on = append(on, g.itemsOf(r).makes...)
		}
		if by := g.cachedAfter(r, on); by != nil {
			return by
		}
	}
	return nil
}
