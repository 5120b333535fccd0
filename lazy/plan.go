package lazy

import (
	"context"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/key"
)

// A Plan lists what a request for a value would do.
type Plan struct {
	Load    int // cached results that would be read
	Compute int // nodes that would be computed, as far as known
	Nodes   []PlanNode
}

// A PlanNode is a node that would be read or computed, after the nodes that it needs.
type PlanNode struct {
	Node   string // name of the function
	Key    key.Key
	Cached bool
	Args   []key.Key // keys of the arguments that are not constants
}

// PlanOf returns what a request for v would do: "to load N, to compute M". It computes
// nothing. It counts a node as computed even if its arguments may get their former
// content, in which case it would be found. It does not count the elements of Map,
// Select and Reduce, which are known only with their list.
func PlanOf(ctx context.Context, l *larder.Larder, v Node) (Plan, error) {
	return walk(ctx, l, v.node(), false)
}

// Tree lists all nodes below v, also those that would not be needed.
func Tree(ctx context.Context, l *larder.Larder, v Node) (Plan, error) {
	return walk(ctx, l, v.node(), true)
}

func walk(ctx context.Context, l *larder.Larder, root *node, all bool) (Plan, error) {
	b := builder{ctx: ctx, larder: l}
	if err := b.name(root); err != nil || root.constant() {
		return Plan{}, err
	}
	var p Plan
	type step struct {
		n      *node
		cached bool
		done   bool // its dependencies are listed
	}
	seen := map[key.Key]bool{}
	stack := []step{{n: root}}
	for len(stack) > 0 {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		k := s.n.action.Load().key
		if s.done {
			p.add(s.n, k, s.cached)
			continue
		}
		if seen[k] || s.n.hole != nil {
			continue
		}
		seen[k] = true
		if s.n.fn.options.Keep != KeepNot {
			var err error
			if s.cached, err = l.Has(ctx, k); err != nil {
				return p, err
			}
		}
		s.done = true
		stack = append(stack, s)
		if s.cached && !all {
			continue
		}
		for _, a := range s.n.args {
			if !a.constant() {
				stack = append(stack, step{n: a})
			}
		}
	}
	return p, ctx.Err()
}

func (p *Plan) add(n *node, k key.Key, cached bool) {
	if cached {
		p.Load++
	} else {
		p.Compute++
	}
	node := PlanNode{Node: n.fn.name, Key: k, Cached: cached}
	for _, a := range n.args {
		if !a.constant() {
			node.Args = append(node.Args, a.action.Load().key)
		}
	}
	p.Nodes = append(p.Nodes, node)
}
