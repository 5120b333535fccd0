package lint

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/op"
	"github.com/larder-data/larder/pool"
)

// A count is what is known about the number of samples of a node.
type count struct {
	known bool
	most  int  // upper bound
	exact bool // also a lower bound
}

// patience is how long opening a source may take.
const patience = 2 * time.Second

// count finds out, once, how many samples each output of a node has.
func (g *graph) count(n *flow.Node) count {
	c, ok := g.counts[n]
	if !ok {
		c = g.countOf(n)
		g.counts[n] = c
	}
	return c
}

func (g *graph) countOf(n *flow.Node) count {
	var in []count
	for _, from := range n.From {
		in = append(in, g.count(g.byName[from.Node]))
	}
	switch {
	case n.Component.Kind == component.Source:
		return g.countSource(n)
	case n.Component.Kind == component.Map:
		return g.less(n, in[0])
	case n.Component.Many:
		return countJoined(n, in)
	}
	switch p := n.Params.(type) {
	case op.Sample:
		return exactly(p.N)
	case op.WeightedSample:
		return exactly(p.N)
	case op.Cycle:
		return exactly(p.N)
	case op.Pad:
		return exactly(p.Length)
	case op.Batch:
		return atMost(p.Size, in[0])
	case op.Enumerate, op.MapIf, op.Memorize:
		return g.less(n, in[0])
	case op.Filter, op.Sort, op.GroupBy, op.Split, op.Chunk:
		return count{known: in[0].known, most: in[0].most}
	}
	return countOrdered(n, in[0])
}

func exactly(n int) count { return count{known: true, most: n, exact: true} }

func atMost(n int, c count) count {
	if c.known {
		n = min(n, c.most)
	}
	return count{known: true, most: n}
}

// less returns the count of a node that may skip samples of its input.
func (g *graph) less(n *flow.Node, c count) count {
	c.exact = c.exact && n.Options.OnError == nil
	return c
}

// countOrdered returns how many samples a reordering operator passes on. The
// count of the input need not be known if the result does not depend on it.
func countOrdered(n *flow.Node, in count) count {
	if in.known {
		o, ok := n.Component.Order(n.Params, in.most)
		if !ok {
			return count{}
		}
		return count{known: true, most: o.Len(), exact: in.exact}
	}
	const many = 1 << 28
	a, ok := n.Component.Order(n.Params, many)
	b, same := n.Component.Order(n.Params, 2*many)
	if !ok || !same || a.Len() != b.Len() {
		return count{}
	}
	return count{known: true, most: a.Len()}
}

func countJoined(n *flow.Node, in []count) count {
	sum, least := exactly(0), count{}
	for _, c := range in {
		sum = count{known: sum.known && c.known, most: sum.most + c.most, exact: sum.exact && c.exact}
		if c.known && (!least.known || c.most < least.most) {
			least = count{known: true, most: c.most}
		}
	}
	switch p := n.Params.(type) {
	case op.Mix:
		return exactly(p.N)
	case op.Cat:
		return sum
	case op.Interleave:
		sum.exact = sum.exact && p.Until != "shortest"
		return sum
	case op.Zip:
		return least
	}
	return count{}
}

// countSource opens a source, if that is allowed, without reading its samples.
func (g *graph) countSource(n *flow.Node) count {
	if !g.Sources {
		return count{}
	}
	ctx, cancel := context.WithTimeout(larder.CachedOnly(g.ctx), patience)
	defer cancel()
	log := slog.New(slog.NewTextHandler(io.Discard, nil)) // a run of the flow logs the warnings
	env := &component.Env{Node: n.Name, Dir: g.Dir, Pool: pool.New(0), Stats: new(dataset.NodeStats), Log: log}
	if n.Dir != "" {
		env.Dir = n.Dir
	}
	ds, err := n.Component.OpenSource(dataset.WithLog(ctx, log), env, n.Params)
	if err != nil {
		return count{}
	}
	return g.less(n, exactly(ds.Len()))
}
