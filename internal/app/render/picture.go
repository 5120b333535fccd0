package render

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// picture has the positions of all elements of a drawing, in pixels.
type picture struct {
	boxes         []box   // of each node
	lines         []line  // of each edge
	labels        []label // of selected outputs
	numbers       []label // of inputs of nodes with several
	width, height int
}

type box struct{ x, y, w, h int }

type point struct{ x, y int }

// line is the path of an edge, horizontal except for its bends.
type line struct {
	start, end point
	bends      []bend
}

// bend is a curve between two layers, horizontal at both ends.
type bend struct{ from, to point }

// label names the output of edges; its position is the middle of its left end.
type label struct {
	point
	w    int
	text string
}

// Sizes in pixels.
const (
	nameSize    = 17 // font size
	smallSize   = 12
	boxHeight   = 58 // with name and component
	panelHeight = 62 // for results of a run
	leastWidth  = 112
	maxText     = 240 // longer strings are shortened
	padding     = 16  // around text
	socketGap   = 24
	gapWidth    = 64 // minimum distance of layers
	maxLabel    = 140
	labelPad    = 6
	labelLead   = 12 // from the socket to its label
	arrowLead   = 20 // horizontal, before a node
	partGap     = 48 // between unconnected parts
)

// picture computes the layout: connected parts below each other, and below them
// nodes without edges, in rows.
func (d *Drawing) picture() *picture {
	p := &picture{boxes: make([]box, len(d.nodes)), lines: make([]line, len(d.edges))}
	var alone []int
	for _, part := range d.parts() {
		if len(part) == 1 {
			alone = append(alone, part[0])
		} else {
			d.layOut(p, part)
		}
	}
	d.layOutAlone(p, alone)
	return p
}

// parts splits the nodes into connected components.
func (d *Drawing) parts() (parts [][]int) {
	neighbours := make([][]int, len(d.nodes))
	for _, e := range d.edges {
		neighbours[e.from] = append(neighbours[e.from], e.to)
		neighbours[e.to] = append(neighbours[e.to], e.from)
	}
	seen := make([]bool, len(d.nodes))
	for n := range d.nodes {
		if seen[n] {
			continue
		}
		seen[n] = true
		part := []int{n}
		for i := 0; i < len(part); i++ {
			for _, m := range neighbours[part[i]] {
				if !seen[m] {
					seen[m] = true
					part = append(part, m)
				}
			}
		}
		slices.Sort(part)
		parts = append(parts, part)
	}
	return parts
}

// layOut adds connected nodes below the existing layout.
func (d *Drawing) layOut(p *picture, nodes []int) {
	var edges []edge
	var numbers []int // indexes of the edges in the drawing
	for i, e := range d.edges {
		if _, found := slices.BinarySearch(nodes, e.to); found {
			edges, numbers = append(edges, e), append(numbers, i)
		}
	}
	g := newGraph(nodes, edges, d.height)
	g.order()
	g.place()
	p.below(g)
	outs := g.outSockets(edges)
	columns := d.columns(g, edges)
	for _, layer := range g.layers {
		for _, v := range layer {
			if c := columns[v.layer]; !v.passes() {
				p.boxes[v.node] = box{c.left, v.y - v.height/2, c.right - c.left, v.height}
			}
		}
	}
	for i, path := range g.paths {
		p.lines[numbers[i]] = route(path, columns, outs[edges[i].socket()], path[len(path)-1].inSocket(edges[i].input))
	}
	p.label(edges, outs)
	p.number(edges, numbers)
	p.width = max(p.width, columns[len(columns)-1].right)
}

// below moves a graph below the existing layout, and extends the layout.
func (p *picture) below(g *graph) {
	top, bottom := math.MaxInt, math.MinInt
	for _, layer := range g.layers {
		for _, v := range layer {
			top, bottom = min(top, v.y-v.height/2), max(bottom, v.y+v.height/2)
		}
	}
	start := 0
	if p.height > 0 {
		start = p.height + partGap
	}
	for _, layer := range g.layers {
		for _, v := range layer {
			v.y += start - top
		}
	}
	p.height = start + bottom - top
}

// layOutAlone adds nodes without edges below the existing layout, in rows.
func (d *Drawing) layOutAlone(p *picture, nodes []int) {
	if len(nodes) == 0 {
		return
	}
	const gap = nodeGap
	w, h := 0, 0
	for _, n := range nodes {
		w, h = max(w, d.width(n)), max(h, d.height(n))
	}
	row := max((p.width+gap)/(w+gap), int(math.Ceil(math.Sqrt(float64(len(nodes))))))
	start := 0
	if p.height > 0 {
		start = p.height + partGap
	}
	for i, n := range nodes {
		b := box{i % row * (w + gap), start + i/row*(h+gap), w, h}
		p.boxes[n] = b
		p.width, p.height = max(p.width, b.x+b.w), max(p.height, b.y+b.h)
	}
}

// column is the horizontal position of a layer. Between enter and level all lines
// are horizontal.
type column struct{ enter, left, right, level int }

// columns places the layers of a graph from left to right.
func (d *Drawing) columns(g *graph, edges []edge) []column {
	columns := make([]column, len(g.layers))
	leads := make([]int, len(g.layers))   // space for labels after each layer
	entries := make([]int, len(g.layers)) // and for arrows and numbers before it
	for i, e := range edges {
		last := g.paths[i][len(g.paths[i])-1].layer
		entries[last] = max(entries[last], e.entry())
		if e.output != "" {
			layer := g.paths[i][0].layer
			leads[layer] = max(leads[layer], labelLead+labelWidth(e.output)+labelPad)
		}
	}
	left := 0
	for i, layer := range g.layers {
		w, steepest := 0, 0
		for _, v := range layer {
			if !v.passes() {
				w = max(w, d.width(v.node))
			}
			for _, s := range v.out {
				steepest = max(steepest, s.to.y-v.y, v.y-s.to.y)
			}
		}
		left += entries[i]
		columns[i] = column{left - entries[i], left, left + w, left + w + leads[i]}
		left = columns[i].level + gapWidth + min(steepest/6, gapWidth)
	}
	return columns
}

// entry returns the space between the last bend of an edge and its end.
func (e edge) entry() int {
	if e.numbered {
		return arrowLead + e.numberWidth()
	}
	return arrowLead
}

// number returns the index of the input of an edge.
func (e edge) number() string { return strconv.Itoa(e.input) }

func (e edge) numberWidth() int { return width(e.number(), smallSize) + labelPad }

// socket is the point where edges leave a node.
type socket struct {
	node   int
	output string
}

func (e edge) socket() socket { return socket{e.from, e.output} }

// outSockets gives each output with a reader its y, sorted by the order of edges in
// the next layer.
func (g *graph) outSockets(edges []edge) map[socket]int {
	type out struct {
		socket
		first *segment // the topmost
	}
	from := map[*vertex][]out{}
	var nodes []*vertex
	for i, e := range edges {
		v, next := g.paths[i][0], g.paths[i][1]
		if from[v] == nil {
			nodes = append(nodes, v)
		}
		s := segmentOf(v, next, e.input)
		at := slices.IndexFunc(from[v], func(o out) bool { return o.output == e.output })
		switch {
		case at < 0:
			from[v] = append(from[v], out{e.socket(), s})
		case from[v][at].first.after(s):
			from[v][at].first = s
		}
	}
	ys := map[socket]int{}
	for _, v := range nodes {
		outs := from[v]
		slices.SortStableFunc(outs, func(a, b out) int {
			return cmp.Or(a.first.to.place-b.first.to.place, a.first.socket-b.first.socket)
		})
		for i, o := range outs {
			ys[o.socket] = v.y + spread(i, len(outs))
		}
	}
	return ys
}

// segmentOf returns the segment from v to next; among several, the one to the given
// input.
func segmentOf(v, next *vertex, input int) *segment {
	for _, s := range v.out {
		if s.to == next && (next.passes() || s.socket == input) {
			return s
		}
	}
	return nil
}

// inSocket returns the y of an input of a node.
func (v *vertex) inSocket(i int) int { return v.y + spread(i, len(v.in)) }

// spread returns the distance of the i-th of n sockets from the centre.
func spread(i, n int) int { return (2*i + 1 - n) * socketGap / 2 }

// route leads a line along a path.
func route(path []*vertex, columns []column, from, to int) line {
	first, last := path[0], path[len(path)-1]
	l := line{
		start: point{columns[first.layer].right, from},
		end:   point{columns[last.layer].left, to},
	}
	y := from
	for _, v := range path[1:] {
		next := v.y
		if v == last {
			next = to
		}
		if next != y {
			l.bends = append(l.bends, bend{
				point{columns[v.layer-1].level, y}, point{columns[v.layer].enter, next},
			})
		}
		y = next
	}
	return l
}

func labelWidth(output string) int {
	return width(fit(clean(output), smallSize, maxLabel), smallSize) + 2*labelPad
}

// label adds a label for each selected output.
func (p *picture) label(edges []edge, outs map[socket]int) {
	seen := map[socket]bool{}
	for _, e := range edges {
		s := e.socket()
		if e.output == "" || seen[s] {
			continue
		}
		seen[s] = true
		b := p.boxes[e.from]
		p.labels = append(p.labels, label{
			point{b.x + b.w + labelLead, outs[s]}, labelWidth(e.output), e.output,
		})
	}
}

// number adds the indexes of inputs of nodes with several, before the arrows.
func (p *picture) number(edges []edge, lines []int) {
	for i, e := range edges {
		if e.numbered {
			end := p.lines[lines[i]].end
			p.numbers = append(p.numbers, label{point{end.x - arrowLead - e.numberWidth() + labelPad/2, end.y}, e.numberWidth(), e.number()})
		}
	}
}
