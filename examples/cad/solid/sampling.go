package solid

import "math"

// A crossing is a point where the surface crosses an edge of the grid, and the gradient
// of the distance there.
type crossing struct{ at, normal Vec }

// sampling is the working memory of one goroutine for a block.
type sampling struct {
	distances [corners * corners * corners]float64
	crossings [3][corners * corners * corners]crossing // of the edges that start at a corner; others are stale
}

// stride is the distance between corners of a block along each axis.
var stride = [3]int{1, corners, corners * corners}

// block finds the surface's sheets in the cells of a block, and a vertex for each. It
// returns nil if there are none.
func (w *sampling) block(g *grid, number int) *block {
	start := g.start(number)
	const radius = side * 0.8661 // from the centre to a corner: half of √3
	middle := g.corner(start).Add(Vec{side, side, side}.Mul(g.cell / 2))
	if math.Abs(g.solid.Distance(middle)) > radius*g.cell {
		return nil
	}
	w.sample(g, start)
	b := &block{}
	if !w.readMasks(b) {
		return nil
	}
	w.cross(g, start)
	for cell, mask := range b.masks {
		b.first[cell] = uint16(len(b.vertices) / 3)
		lo := g.corner(plus(start, place3(cell, side)))
		// The cells around an acute edge may not contain it: vertices may be up to half a cell
		// outside to reach it.
		within := Box{lo, lo.Add(Vec{g.cell, g.cell, g.cell})}.grown(g.cell / 2)
		for sheet := range patterns[mask].sheets {
			b.add(w.vertex(cell, mask, uint8(sheet), within))
		}
	}
	w.forks(b)
	return b
}

// place3 returns the position of index i in a cube of n³ elements.
func place3(i, n int) [3]int { return [3]int{i % n, i / n % n, i / n / n} }

func plus(a, b [3]int) [3]int { return [3]int{a[0] + b[0], a[1] + b[1], a[2] + b[2]} }

// cornerOf returns the index of a cell's corner c among the block's corners.
func cornerOf(cell, c int) int {
	p := place3(cell, side)
	return p[0] + c&1 + corners*(p[1]+c>>1&1) + corners*corners*(p[2]+c>>2&1)
}

func (b *block) add(v Vec) {
	b.vertices = append(b.vertices, float32(v[0]), float32(v[1]), float32(v[2]))
}

// sample measures the distance at the block's corners. If the surface is cells away, the
// next corners of the row have the same sign.
func (w *sampling) sample(g *grid, start [3]int) {
	for row := 0; row < len(w.distances); row += corners {
		for x := 0; x < corners; {
			d := g.solid.Distance(g.corner(plus(start, place3(row+x, corners))))
			same := max(1, int(min(math.Abs(d)/g.cell, side)))
			for ; same > 0 && x < corners; same-- {
				w.distances[row+x] = d
				x++
			}
		}
	}
}

// readMasks sets the masks of the cells, and reports whether any has both corners inside
// and outside.
func (w *sampling) readMasks(b *block) (any bool) {
	for cell := range b.masks {
		var mask uint8
		for c := range 8 {
			if w.distances[cornerOf(cell, c)] < 0 {
				mask |= 1 << c
			}
		}
		b.masks[cell] = mask
		any = any || mask != 0 && mask != 255
	}
	return any
}

// cross finds all crossings of edges of the block.
func (w *sampling) cross(g *grid, start [3]int) {
	for i, d := range w.distances {
		p := place3(i, corners)
		for a := range 3 {
			if p[a] == side || (d < 0) == (w.distances[i+stride[a]] < 0) {
				continue
			}
			w.crossings[a][i] = g.crossing(g.corner(plus(start, p)), a, d, w.distances[i+stride[a]])
		}
	}
}

// crossing searches for the surface on the edge along axis a, with distances d0 and d1
// at its ends, by false position (the Illinois variant).
func (g *grid) crossing(from Vec, a int, d0, d1 float64) crossing {
	t0, t1 := 0.0, g.cell
	x, d := from, 0.0
	for range 12 {
		t := (t0*d1 - t1*d0) / (d1 - d0)
		x[a] = from[a] + t
		if d = g.solid.Distance(x); math.Abs(d) < 1e-6*g.cell {
			break
		}
		if (d < 0) == (d1 < 0) {
			d0 /= 2
		} else {
			t0, d0 = t1, d1
		}
		t1, d1 = t, d
	}
	var normal Vec
	step := 1e-3 * g.cell
	for i := range 3 {
		y := x
		y[i] += step
		normal[i] = g.solid.Distance(y) - d
	}
	return crossing{x, normal.unit()}
}

// vertex returns the best-fitting point on the planes through a sheet's crossings: on an
// edge or a corner if they meet in one. A small weight pulls it to the centre of the
// crossings in directions that the planes leave free.
func (w *sampling) vertex(cell int, mask, sheet uint8, within Box) Vec {
	var middle Vec
	var found [12]crossing
	n := 0
	for e := range 12 {
		if crossed(mask, e) && patterns[mask].sheetOf[e] == sheet {
			found[n] = w.crossings[e/4][cornerOf(cell, edgeStart(e))]
			middle = middle.Add(found[n].at)
			n++
		}
	}
	middle = middle.Mul(1 / float64(n))
	const pull = 0.02
	rows, right := [3]Vec{{pull, 0, 0}, {0, pull, 0}, {0, 0, pull}}, Vec{}
	for _, c := range found[:n] {
		off := c.normal.Dot(c.at.Sub(middle))
		right = right.Add(c.normal.Mul(off))
		for r := range 3 {
			rows[r] = rows[r].Add(c.normal.Mul(c.normal[r]))
		}
	}
	v := middle.Add(solve(rows, right))
	for a := range 3 {
		v[a] = max(within.Min[a], min(within.Max[a], v[a]))
	}
	return v
}

// solve returns the x with m·x = right, for a symmetric invertible m.
func solve(m [3]Vec, right Vec) Vec {
	yz, zx, xy := m[1].Cross(m[2]), m[2].Cross(m[0]), m[0].Cross(m[1])
	x := yz.Mul(right[0]).Add(zx.Mul(right[1])).Add(xy.Mul(right[2]))
	return x.Mul(1 / m[0].Dot(yz))
}

// forks adds two vertices for each forked face at a lower side of a cell, in the middle
// of each line that cuts off an inside corner. The first is for the line with the lower
// position on the second of the face's axes.
func (w *sampling) forks(b *block) {
	for cell, mask := range b.masks {
		for a := range 3 {
			if patterns[mask].forked>>a&1 == 0 {
				continue
			}
			if b.forks == nil {
				b.forks = map[int]uint32{}
			}
			b.forks[3*cell+a] = uint32(len(b.vertices) / 3)
			u, v := next(a), next(next(a))
			for high := range 2 {
				in := high << v
				if mask>>in&1 == 0 {
					in |= 1 << u
				}
				along := w.crossings[u][cornerOf(cell, in&^(1<<u))]
				across := w.crossings[v][cornerOf(cell, in&^(1<<v))]
				b.add(along.at.Add(across.at).Mul(0.5))
			}
		}
	}
}
