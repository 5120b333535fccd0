package lint

import (
	"time"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
)

// costlyCheckpoint: a checkpoint that caches nothing, or whose results take
// longer to read than to compute.
func costlyCheckpoint(g *graph) (all []Warning) {
	for _, n := range g.Nodes {
		if !n.Options.Checkpoint || n.Component.Kind == component.Sink {
			continue
		}
		if !g.worthKeeping(n) {
			all = append(all, at(n, "remove the checkpoint; cache keeps samples in memory",
				"no mapper computes items of its samples, so its checkpoint reads all samples and stores nothing"))
		} else if compute, read, ok := g.measured(n); ok {
			all = append(all, at(n, "remove the checkpoint, or set checkpoint: auto",
				"a cached sample takes %v to read and took %v to compute, so its checkpoint never pays", read, compute))
		}
	}
	return all
}

// worthKeeping reports whether a node may have results to cache.
func (g *graph) worthKeeping(n *flow.Node) bool {
	return g.mayMake(n) || once(g, "makes upstream", func() map[*flow.Node]bool { return g.upstream(g.mayMake) })[n]
}

// mayMake reports whether a node may compute items, or caches results to know
// which samples to skip.
func (g *graph) mayMake(n *flow.Node) bool {
	switch {
	case n.Options.OnError != nil && n.Options.OnError.Skip || !n.Component.IsRegistered():
		return true
	case n.Component.Kind == component.Source:
		return false
	case n.Component.Kind == component.Op && !n.Component.Maps:
		_, known := expressions(n)
		return !known
	case movesNames(n):
		return false
	}
	return true
}

// measuredLeast is the number of results whose cost must be known.
const measuredLeast = 3

// measured returns the mean costs of results of a node, if they cost more to
// read than to compute.
func (g *graph) measured(n *flow.Node) (compute, read time.Duration, ok bool) {
	if g.Larder == nil {
		return 0, 0, false
	}
	m, err := g.Measure(g.ctx, g.Larder, n.Name)
	if err != nil || m.Results < measuredLeast || m.Read <= m.Compute {
		return 0, 0, false
	}
	each := time.Duration(m.Results)
	return (m.Compute / each).Round(time.Microsecond / 10), (m.Read / each).Round(time.Microsecond / 10), true
}
