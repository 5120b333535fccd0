package render

import "slices"

// place gives every vertex its y with the algorithm of Brandes and Köpf (2002),
// with blocks placed by longest paths. Edges that pass several layers become
// straight. The result is the median of four layouts, each aligned to another
// corner, which preserves order and distances.
func (g *graph) place() {
	g.bar()
	var layouts []layout
	for _, backward := range []bool{false, true} {
		for _, mirrored := range []bool{false, true} {
			layouts = append(layouts, g.lean(backward, mirrored))
		}
	}
	narrow := slices.MinFunc(layouts, func(a, b layout) int { return a.extent() - b.extent() })
	low, high := narrow.bounds()
	for i, l := range layouts {
		shift := low - l.low()
		if i%2 == 1 { // mirrored
			shift = high - l.high()
		}
		for v := range l {
			l[v] += shift
		}
	}
	for _, layer := range g.layers {
		for _, v := range layer {
			ys := []int{layouts[0][v], layouts[1][v], layouts[2][v], layouts[3][v]}
			slices.Sort(ys)
			v.y = (ys[1] + ys[2]) >> 1
		}
	}
}

// layout holds the y of each vertex.
type layout map[*vertex]int

func (l layout) bounds() (low, high int) { return l.low(), l.high() }

func (l layout) low() int {
	low, first := 0, true
	for v, y := range l {
		if top := y - v.height/2; first || top < low {
			low, first = top, false
		}
	}
	return low
}

func (l layout) high() int {
	high, first := 0, true
	for v, y := range l {
		if bottom := y + v.height/2; first || bottom > high {
			high, first = bottom, false
		}
	}
	return high
}

func (l layout) extent() int { return l.high() - l.low() }

// bar marks the segments that cross an edge passing through both of their layers.
func (g *graph) bar() {
	for i, layer := range g.layers[:len(g.layers)-1] {
		var inner []*segment
		for _, v := range layer {
			for _, s := range v.out {
				if s.inner() {
					inner = append(inner, s)
				}
			}
		}
		for _, v := range g.layers[i] {
			for _, s := range v.out {
				s.barred = !s.inner() && slices.ContainsFunc(inner, s.crosses)
			}
		}
	}
}

func (s *segment) inner() bool { return s.from.passes() && s.to.passes() }

func (s *segment) crosses(t *segment) bool {
	return (s.from.place-t.from.place)*(s.to.place-t.to.place) < 0
}

// lean computes the layout in which vertices align with their neighbours before
// (or, backward, after) and are as far up (or, mirrored, down) as possible.
func (g *graph) lean(backward, mirrored bool) layout {
	layers := g.places()
	if backward {
		slices.Reverse(layers)
	}
	at := func(v *vertex) int { return v.place }
	if mirrored {
		at = func(v *vertex) int { return -v.place }
		for _, layer := range layers {
			slices.Reverse(layer)
		}
	}
	l := blocksOf(layers, backward, at).compact(layers)
	if mirrored {
		for v := range l {
			l[v] = -l[v]
		}
	}
	return l
}

// blocks maps each vertex to the first one of its aligned block.
type blocks map[*vertex]*vertex

func blocksOf(layers [][]*vertex, backward bool, at func(*vertex) int) blocks {
	root, next := blocks{}, map[*vertex]bool{} // next: a vertex is aligned after it
	for _, layer := range layers {
		last, some := 0, false // index of the neighbour aligned last
		for _, v := range layer {
			root[v] = v
			for _, s := range v.middle(backward, at) {
				w := s.from
				if backward {
					w = s.to
				}
				if root[v] == v && !next[w] && !s.barred && (!some || last < at(w)) {
					root[v], next[w] = root[w], true
					last, some = at(w), true
				}
			}
		}
	}
	return root
}

// middle returns the segments to the neighbours that v may align with. A passing
// edge continues straight; other vertices take the median, and both medians for an
// even number.
func (v *vertex) middle(backward bool, at func(*vertex) int) []*segment {
	segments, other := v.in, func(s *segment) *vertex { return s.from }
	if backward {
		segments, other = v.out, func(s *segment) *vertex { return s.to }
	}
	if i := slices.IndexFunc(segments, (*segment).inner); i >= 0 {
		return segments[i : i+1]
	}
	n := len(segments)
	if n == 0 {
		return nil
	}
	sorted := slices.Clone(segments)
	slices.SortStableFunc(sorted, func(a, b *segment) int { return at(other(a)) - at(other(b)) })
	return sorted[(n-1)/2 : n/2+1]
}

// compact gives each block the least y that avoids overlaps with the blocks above,
// and then moves it down as far as those below allow.
func (root blocks) compact(layers [][]*vertex) layout {
	type limit struct {
		block *vertex
		apart int
	}
	above, below := map[*vertex][]limit{}, map[*vertex][]limit{}
	var all []*vertex
	for _, layer := range layers {
		for i, v := range layer {
			if root[v] == v {
				all = append(all, v)
			}
			if i > 0 {
				u, apart := layer[i-1], distance(layer[i-1], v)
				above[root[v]] = append(above[root[v]], limit{root[u], apart})
				below[root[u]] = append(below[root[u]], limit{root[v], apart})
			}
		}
	}
	y := map[*vertex]int{}
	var sorted []*vertex // each after the ones above it
	var visit func(b *vertex)
	visit = func(b *vertex) {
		if _, done := y[b]; done {
			return
		}
		y[b] = 0
		top := b.height / 2
		for _, l := range above[b] {
			visit(l.block)
			top = max(top, y[l.block]+l.apart)
		}
		y[b] = top
		sorted = append(sorted, b)
	}
	for _, b := range all {
		visit(b)
	}
	for _, b := range slices.Backward(sorted) {
		if len(below[b]) == 0 {
			continue
		}
		space := y[below[b][0].block] - below[b][0].apart
		for _, l := range below[b] {
			space = min(space, y[l.block]-l.apart)
		}
		y[b] = max(y[b], space)
	}
	l := layout{}
	for _, layer := range layers {
		for _, v := range layer {
			l[v] = y[root[v]]
		}
	}
	return l
}

// distance returns the minimum distance between the centres of two vertices.
func distance(u, v *vertex) int {
	gap := nodeGap
	switch {
	case u.passes() && v.passes():
		gap = passageGap
	case u.passes() || v.passes():
		gap = (nodeGap + passageGap) / 2
	}
	return (u.height+v.height)/2 + gap
}

const (
	nodeGap    = 34
	passageGap = 12
)
