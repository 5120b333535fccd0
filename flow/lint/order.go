package lint

import (
	"context"
	"fmt"

	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/op"
)

// shards reports whether a node passes on the share of one of several
// processes.
func shards(n *flow.Node) bool {
	s, ok := as[op.Shard](n)
	return ok && s.WorldSize > 1
}

// shardBeforeShuffle: a share is shuffled, and its samples were not shuffled
// before.
func shardBeforeShuffle(g *graph) (all []Warning) {
	for _, n := range g.Nodes {
		shard := g.shardAbove(n)
		if !is[op.Shuffle](n) || shard == nil || g.shuffledAbove(shard) {
			continue
		}
		all = append(all, at(n, fmt.Sprintf("shuffle before %s, with one seed in all processes", name(shard)),
			"it shuffles the shard of %s, so each process reads the same samples in every epoch", name(shard)))
	}
	return all
}

func (g *graph) shardAbove(n *flow.Node) *flow.Node {
	return once(g, "shard above", func() map[*flow.Node]*flow.Node { return g.nearest(shards) })[n]
}

func (g *graph) shuffledAbove(n *flow.Node) bool {
	return once(g, "shuffle above", func() map[*flow.Node]*flow.Node { return g.nearest(is[op.Shuffle]) })[n] != nil
}

// shuffleAfterBatch: whole batches are shuffled, not samples.
func shuffleAfterBatch(g *graph) (all []Warning) {
	for _, n := range g.Nodes {
		if b := g.batchAbove(n); is[op.Shuffle](n) && b != nil {
			all = append(all, at(n, fmt.Sprintf("shuffle before %s", name(b)),
				"it shuffles each batch of %s separately, so no sample moves to another batch", name(b)))
		}
	}
	return all
}

// batchAbove returns the node whose batches a node reads, all of them, or nil.
func (g *graph) batchAbove(n *flow.Node) *flow.Node {
	return once(g, "batch above", func() map[*flow.Node]*flow.Node {
		found := map[*flow.Node]*flow.Node{}
		for _, n := range g.order {
			if n.Component.Many || len(n.From) != 1 || n.From[0].Output != "" {
				continue
			}
			from := g.byName[n.From[0].Node]
			if found[n] = found[from]; is[op.Batch](from) {
				found[n] = from
			}
		}
		return found
	})[n]
}

// repeatBeforeShuffle: passes over the data are mixed with one another, and
// nothing makes the copies differ.
func repeatBeforeShuffle(g *graph) (all []Warning) {
	for _, n := range g.Nodes {
		if !is[op.Shuffle](n) {
			continue
		}
		above := once(g, "random or repeated above", func() map[*flow.Node]*flow.Node {
			return g.nearest(func(n *flow.Node) bool { return g.random(n) || g.repeats(n) })
		})
		m := above[n]
		if m == nil || g.random(m) { // otherwise each copy is another sample
			continue
		}
		all = append(all, at(n, fmt.Sprintf("shuffle before %s, or let a loader shuffle each epoch", name(m)),
			"it shuffles the passes of %s together, so a sample may come twice before another has come once", name(m)))
	}
	return all
}

// repeats reports whether a node is known to pass on samples more than once.
func (g *graph) repeats(n *flow.Node) bool {
	switch p := n.Params.(type) {
	case op.Repeat:
		return p.Times > 1
	case op.Cycle:
		c := g.count(g.byName[n.From[0].Node])
		return c.known && p.N > c.most
	}
	return false
}

// doubleShard: a share of a share.
func doubleShard(g *graph) (all []Warning) {
	for _, n := range g.Nodes {
		first := g.shardAbove(n)
		if !shards(n) || first == nil {
			continue
		}
		a, _ := as[op.Shard](first)
		b, _ := as[op.Shard](n)
		all = append(all, at(n, fmt.Sprintf("remove one; for machines and their processes, use one shard with rank: A * %d + B and world-size: %d", b.WorldSize, a.WorldSize*b.WorldSize),
			"it shards the shard of %s, so 1 of %d samples remains", name(first), a.WorldSize*b.WorldSize))
	}
	return all
}

// ShardOf returns the node that passes on the share of one process, if the
// output of the given node is computed from it; or nil. A caller that reads
// this output by ranks takes a share of the share.
func ShardOf(f *flow.Flow, node string) *flow.Node {
	n, err := f.Node(node)
	if err != nil {
		return nil
	}
	if shards(n) {
		return n
	}
	return newGraph(context.Background(), f, Options{}).shardAbove(n)
}
