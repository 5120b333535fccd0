package solid

// A cell of the grid is a cube. Corner c is at x = c&1, y = c>>1&1, z = c>>2&1. Edge
// 4a+b+2c is along axis a, at b on the next axis and c on the one after. A cell's mask
// has bit c set if corner c is inside the solid.

func next(axis int) int { return (axis + 1) % 3 }

// edgeStart returns the corner at the lower end of an edge.
func edgeStart(e int) int {
	a := e / 4
	return e&1<<next(a) | e>>1&1<<next(next(a))
}

func crossed(mask uint8, e int) bool {
	from := edgeStart(e)
	return (mask>>from^mask>>(from|1<<(e/4)))&1 == 1
}

// A pattern describes how the surface passes through the cells with a mask: in one or
// more sheets, each of which gets a vertex.
type pattern struct {
	sheets  int
	sheetOf [12]uint8 // of each crossed edge
	// forked has bit a set if the face across axis a at 0 has two opposite corners inside
	// and two outside, so that two lines of the surface cross it. The lines are assumed to
	// cut off the inside corners.
	forked uint8
}

var patterns = func() (ps [256]pattern) {
	for mask := range ps {
		ps[mask] = newPattern(uint8(mask))
	}
	return ps
}()

func newPattern(mask uint8) (p pattern) {
	var group [12]int // edges are in one group if a line of the surface joins them
	for e := range group {
		group[e] = e
	}
	join := func(e, f int) {
		from, to := group[e], group[f]
		for i := range group {
			if group[i] == from {
				group[i] = to
			}
		}
	}
	for face := range 6 { // axis face/2, side face%2
		var cut []int
		for e := range 12 {
			if e/4 != face/2 && edgeStart(e)>>(face/2)&1 == face%2 && crossed(mask, e) {
				cut = append(cut, e)
			}
		}
		for i, e := range cut {
			for _, f := range cut[:i] {
				if len(cut) == 2 || insideEnd(mask, e) == insideEnd(mask, f) {
					join(e, f)
				}
			}
		}
		if len(cut) == 4 && face%2 == 0 {
			p.forked |= 1 << (face / 2)
		}
	}
	number := map[int]uint8{}
	for e := range 12 {
		if !crossed(mask, e) {
			continue
		}
		n, ok := number[group[e]]
		if !ok {
			n = uint8(len(number))
			number[group[e]] = n
		}
		p.sheetOf[e] = n
	}
	p.sheets = len(number)
	return p
}

// insideEnd returns the corner of a crossed edge that is inside.
func insideEnd(mask uint8, e int) int {
	if from := edgeStart(e); mask>>from&1 == 1 {
		return from
	}
	return edgeStart(e) | 1<<(e/4)
}
