package render

import (
	"cmp"
	"slices"
)

// order sorts the vertices of each layer to reduce crossings. In sweeps from side
// to side, each vertex moves to the mean position of its neighbours in the previous
// layer. Then neighbours are swapped if that helps. Ties stay, initially in the
// order of the file.
func (g *graph) order() {
	g.depthFirst()
	best, crossings := g.places(), g.crossings()
	for sweep := 0; sweep < g.sweeps() && crossings > 0; sweep++ {
		if sweep%2 == 0 {
			for _, layer := range g.layers[1:] {
				settle(layer, (*vertex).meanBefore)
			}
		} else {
			for _, layer := range slices.Backward(g.layers[:len(g.layers)-1]) {
				settle(layer, (*vertex).meanAfter)
			}
		}
		g.swap()
		if n := g.crossings(); n < crossings {
			best, crossings = g.places(), n
		}
	}
	g.layers = best
	for _, layer := range g.layers {
		number(layer)
	}
}

// sweeps returns the number of sweeps for a graph of this size.
func (g *graph) sweeps() int {
	const most, work = 24, 100_000
	vertices := 1
	for _, layer := range g.layers {
		vertices += len(layer)
	}
	return min(most, 2+work/vertices)
}

// depthFirst sorts each layer in the order of a depth-first search from the first
// node, so that related vertices are adjacent.
func (g *graph) depthFirst() {
	sorted := make([][]*vertex, len(g.layers))
	seen := map[*vertex]bool{}
	var visit func(v *vertex)
	visit = func(v *vertex) {
		if seen[v] {
			return
		}
		seen[v] = true
		sorted[v.layer] = append(sorted[v.layer], v)
		for _, s := range v.out {
			visit(s.to)
		}
	}
	for _, layer := range g.layers {
		for _, v := range layer {
			if len(v.in) == 0 {
				visit(v)
			}
		}
	}
	g.layers = sorted
	for _, layer := range g.layers {
		number(layer)
	}
}

func number(layer []*vertex) {
	for i, v := range layer {
		v.place = i
	}
}

// places returns a copy of the layers.
func (g *graph) places() [][]*vertex {
	layers := make([][]*vertex, len(g.layers))
	for i, layer := range g.layers {
		layers[i] = slices.Clone(layer)
	}
	return layers
}

// meanBefore returns the mean position of the inputs of a vertex; ok is false
// without inputs.
func (v *vertex) meanBefore() (mean float64, ok bool) {
	for _, s := range v.in {
		mean += float64(s.from.place)
	}
	return mean / float64(len(v.in)), len(v.in) > 0
}

// meanAfter returns the mean position of the readers of a vertex. The socket of a
// node shifts its position slightly.
func (v *vertex) meanAfter() (mean float64, ok bool) {
	for _, s := range v.out {
		n := len(s.to.in)
		mean += float64(s.to.place) + float64(2*s.socket+1-n)/float64(2*n)
	}
	return mean / float64(len(v.out)), len(v.out) > 0
}

// settle sorts a layer by the means of its vertices. Those without a mean keep
// their positions.
func settle(layer []*vertex, mean func(*vertex) (float64, bool)) {
	means := map[*vertex]float64{}
	var moving []*vertex
	for _, v := range layer {
		if m, ok := mean(v); ok {
			means[v] = m
			moving = append(moving, v)
		}
	}
	slices.SortStableFunc(moving, func(a, b *vertex) int { return cmp.Compare(means[a], means[b]) })
	for i, v := range layer {
		if _, ok := means[v]; ok {
			layer[i], moving = moving[0], moving[1:]
		}
	}
	number(layer)
}

// swap swaps neighbours in a layer while that reduces crossings.
func (g *graph) swap() {
	const rounds = 4
	for range rounds {
		swapped := false
		for _, layer := range g.layers {
			for i := range len(layer) - 1 {
				v, w := layer[i], layer[i+1]
				if crossing(w, v) < crossing(v, w) {
					layer[i], layer[i+1] = w, v
					w.place, v.place = i, i+1
					swapped = true
				}
			}
		}
		if !swapped {
			return
		}
	}
}

// crossing counts the crossings of the edges of v and w when v comes first.
func crossing(v, w *vertex) (n int) {
	for _, a := range v.in {
		for _, b := range w.in {
			if a.from.place > b.from.place {
				n++
			}
		}
	}
	for _, a := range v.out {
		for _, b := range w.out {
			if a.after(b) {
				n++
			}
		}
	}
	return n
}

// after reports whether s ends below t.
func (s *segment) after(t *segment) bool {
	return cmp.Or(s.to.place-t.to.place, s.socket-t.socket) > 0
}

// crossings counts the crossings of all edges with the algorithm of Barth, Mutzel
// and Jünger (2004): those between two layers are the inversions of the edge ends.
func (g *graph) crossings() (n int) {
	for i, layer := range g.layers[:len(g.layers)-1] {
		first := make([]int, len(g.layers[i+1])+1) // first socket of each vertex
		for j, v := range g.layers[i+1] {
			first[j+1] = first[j] + len(v.in)
		}
		tree := make([]int, first[len(first)-1]+1) // Fenwick tree of the ends so far
		so := 0
		for _, v := range layer {
			for _, s := range v.out {
				above := 0
				for k := first[s.to.place] + s.socket + 1; k > 0; k &= k - 1 {
					above += tree[k]
				}
				n += so - above
			}
			for _, s := range v.out {
				so++
				for k := first[s.to.place] + s.socket + 1; k < len(tree); k += k & -k {
					tree[k]++
				}
			}
		}
	}
	return n
}
