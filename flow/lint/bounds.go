package lint

import (
	"fmt"
	"slices"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/mapper"
	"github.com/larder-data/larder/op"
)

// cacheTooSmall: samples that are read together do not fit into a cache, so
// they are evicted before they are read again.
func cacheTooSmall(g *graph) (all []Warning) {
	for _, n := range g.Nodes {
		size := cacheSize(n)
		if size == 0 || !thrashesOnCycles(n.Options.Cache.Policy) {
			continue
		}
		if need, what := g.together(n); need > size {
			all = append(all, at(n, fmt.Sprintf("size: %d, a bound in bytes, or the policy hold, which keeps a part", need),
				"its cache holds %d samples, fewer than the %d %s, so each is evicted before its next read", size, need, what))
		}
	}
	return all
}

// cacheSize returns how many samples a node's cache holds; 0 if it has none, or
// is bounded otherwise.
func cacheSize(n *flow.Node) int {
	k := n.Component.Kind
	if n.Options.Cache == nil || n.Options.Cache.Policy == "memo" || k == component.Sink || k == component.Op && !n.Component.Maps {
		return 0 // operators that reorder have no cache of their own
	}
	return n.Options.Cache.Size
}

// thrashesOnCycles reports whether a policy has no hits in a cyclic sequence of more
// samples than fit.
func thrashesOnCycles(policy string) bool {
	return slices.Contains([]string{"lru", "fifo", "cost", "sieve", "s3-fifo"}, policy)
}

// together returns the most samples of a node that one reader reads one after
// another, and describes that reader, as far as known.
func (g *graph) together(n *flow.Node) (most int, what string) {
	of := g.count(n)
	note := func(n int, by string) {
		if of.known {
			n = min(n, of.most)
		}
		if n > most {
			most, what = n, by
		}
	}
	note(batchOf(n), "of a batch of its mapper")
	var visit func(n *flow.Node)
	visit = func(from *flow.Node) {
		for _, r := range g.readers[from] {
			switch p := r.Params.(type) {
			case op.Batch:
				note(p.Size, "of a batch of "+name(r))
				continue
			case op.Shard:
				if c := g.count(r); c.exact {
					note(c.most, "of the share that "+name(r)+" passes on")
				}
				continue
			}
			note(batchOf(r), "of a batch of the mapper of "+name(r)+"")
			if r.Options.Cache == nil && passesAll(r) {
				visit(r)
			}
		}
	}
	visit(n)
	return most, what
}

// passesAll reports whether a node passes on each sample of its input once.
func passesAll(n *flow.Node) bool {
	switch n.Params.(type) {
	case op.Clone, op.Reverse, op.Shuffle, op.CheckLength, op.Enumerate:
		return true
	}
	return n.Component.Kind == component.Map
}

// batchOf returns how many samples the mapper of a node takes per call; 0 if
// one.
func batchOf(n *flow.Node) int {
	switch p := n.Params.(type) {
	case mapper.Exec:
		return p.Batch
	case mapper.Python:
		return p.Batch
	}
	return 0
}

// bufferTooLarge: a bound that no data reaches.
func bufferTooLarge(g *graph) (all []Warning) {
	for _, n := range g.Nodes {
		if c := g.count(n); cacheSize(n) > 0 && c.known && cacheSize(n) > c.most {
			all = append(all, at(n, "use policy: memo, without a size, or a smaller size",
				"its cache has space for %d samples, but there are only %s, so the policy never evicts", cacheSize(n), c))
		}
		if len(n.From) != 1 {
			continue
		}
		c := g.count(g.byName[n.From[0].Node])
		if p, ok := as[op.Batch](n); ok && c.known && p.Size > c.most {
			all = append(all, at(n, "a smaller size, or no batches", "its batches have %d samples, but there are only %s, so there is only one batch", p.Size, c))
		}
		if p, ok := as[op.Chunk](n); ok && c.known && p.N > c.most {
			all = append(all, at(n, "a smaller n", "it makes %d parts of %s samples, so some are empty", p.N, c))
		}
	}
	return all
}

// String returns the number in words.
func (c count) String() string {
	switch {
	case !c.known:
		return "an unknown number"
	case c.exact:
		return fmt.Sprint(c.most)
	}
	return fmt.Sprintf("%d at most", c.most)
}
