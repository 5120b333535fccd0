package render

import "slices"

// A graph is a connected set of nodes in layers, each edge leading to a later
// layer: the framework of Sugiyama, Tagawa and Toda (1981). An edge has a vertex in
// each layer that it passes.
type graph struct {
	layers [][]*vertex
	paths  [][]*vertex // the vertices of each edge, including its ends
}

// vertex is a node, or the point where an edge passes a layer.
type vertex struct {
	node    int // -1 where an edge passes
	layer   int
	place   int // index in its layer
	height  int
	y       int // of its centre
	in, out []*segment
}

// segment is the part of an edge between two layers. Edges from the same output
// share their common path.
type segment struct {
	from, to *vertex
	socket   int  // index among to's inputs
	barred   bool // crosses a passing edge, which takes precedence
}

func (v *vertex) passes() bool { return v.node < 0 }

// newGraph builds the graph of nodes in the order of the file, with their heights,
// and of the edges between them.
func newGraph(nodes []int, edges []edge, height func(node int) int) *graph {
	g := &graph{}
	rank := layerOf(nodes, edges)
	at := map[int]*vertex{}
	for _, n := range nodes {
		at[n] = g.add(n, rank[n], height(n))
	}
	type passage struct {
		from   int
		output string
		layer  int
	}
	passages := map[passage]*vertex{}
	for _, e := range edges {
		v, to := at[e.from], at[e.to]
		path := []*vertex{v}
		for layer := v.layer + 1; layer < to.layer; layer++ {
			p := passage{e.from, e.output, layer}
			if passages[p] == nil {
				passages[p] = g.add(-1, layer, passageHeight)
				join(v, passages[p])
			}
			v = passages[p]
			path = append(path, v)
		}
		join(v, to)
		g.paths = append(g.paths, append(path, to))
	}
	return g
}

// passageHeight is the height reserved for an edge that passes a layer.
const passageHeight = 6

func (g *graph) add(node, layer, height int) *vertex {
	for len(g.layers) <= layer {
		g.layers = append(g.layers, nil)
	}
	v := &vertex{node: node, layer: layer, place: len(g.layers[layer]), height: height}
	g.layers[layer] = append(g.layers[layer], v)
	return v
}

func join(from, to *vertex) {
	s := &segment{from: from, to: to, socket: len(to.in)}
	from.out = append(from.out, s)
	to.in = append(to.in, s)
}

// layerOf puts every node after its inputs, as early as possible. Then it moves
// nodes to the right where that shortens edges.
func layerOf(nodes []int, edges []edge) map[int]int {
	ins, outs := map[int][]edge{}, map[int][]edge{}
	for _, e := range edges {
		ins[e.to] = append(ins[e.to], e)
		outs[e.from] = append(outs[e.from], e)
	}
	rank := map[int]int{}
	// free nodes have a single reader, and so do all nodes that they depend on:
	// moving them together costs nothing.
	free := map[int]bool{}
	sorted := topological(nodes, ins)
	for _, n := range sorted {
		free[n] = true
		for _, e := range ins[n] {
			rank[n] = max(rank[n], rank[e.from]+1)
			free[n] = free[n] && free[e.from] && len(outs[e.from]) == 1
		}
	}
	for _, n := range slices.Backward(sorted) {
		if len(outs[n]) == 0 || !free[n] && outputs(outs[n]) <= len(ins[n]) {
			continue
		}
		first := slices.MinFunc(outs[n], func(a, b edge) int { return rank[a.to] - rank[b.to] })
		rank[n] = max(rank[n], rank[first.to]-1)
	}
	return rank
}

// outputs counts the distinct outputs at the start of edges.
func outputs(edges []edge) int {
	seen := map[string]bool{}
	for _, e := range edges {
		seen[e.output] = true
	}
	return len(seen)
}

// topological sorts nodes so that each comes after its inputs.
func topological(nodes []int, ins map[int][]edge) (sorted []int) {
	seen := map[int]bool{}
	var visit func(n int)
	visit = func(n int) {
		if seen[n] {
			return
		}
		seen[n] = true
		for _, e := range ins[n] {
			visit(e.from)
		}
		sorted = append(sorted, n)
	}
	for _, n := range nodes {
		visit(n)
	}
	return sorted
}
