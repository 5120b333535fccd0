package solid

import (
	"errors"
	"math"
)

// Union returns the union of the solids.
func Union(solids ...Solid) (Solid, error) { return union(0, solids) }

// FilletUnion returns a union whose inner edges are filled with a fillet, which has
// exactly the radius if two faces meet at right angles. It also bulges a little where
// faces of two solids are coplanar. Three and more solids are joined in sequence.
func FilletUnion(radius float64, solids ...Solid) (Solid, error) {
	if err := checkLength("radius", radius); err != nil {
		return nil, err
	}
	return union(radius, solids)
}

// Difference returns s without the others.
func Difference(s Solid, others ...Solid) (Solid, error) { return difference(0, s, others) }

// FilletDifference returns a difference whose new outer edges are rounded with a radius,
// as in [FilletUnion].
func FilletDifference(radius float64, s Solid, others ...Solid) (Solid, error) {
	if err := checkLength("radius", radius); err != nil {
		return nil, err
	}
	return difference(radius, s, others)
}

// Intersection returns the intersection of the solids, which must not be empty.
func Intersection(solids ...Solid) (Solid, error) { return intersection(0, solids) }

// FilletIntersection returns an intersection whose new outer edges are rounded with a
// radius, as in [FilletUnion].
func FilletIntersection(radius float64, solids ...Solid) (Solid, error) {
	if err := checkLength("radius", radius); err != nil {
		return nil, err
	}
	return intersection(radius, solids)
}

// boolean is s times the minimum of s·first and t·each of the rest. A sign turns the
// minimum into a maximum: s = t = 1 is a union, s = t = -1 an intersection, and s = -1,
// t = 1 a difference.
type boolean struct {
	first  Solid
	rest   []Solid
	s, t   float64
	fillet float64
	bounds Box
}

func (b *boolean) Distance(p Vec) float64 {
	d := b.s * b.first.Distance(p)
	for _, r := range b.rest {
		d = blend(d, b.t*r.Distance(p), b.fillet)
	}
	return b.s * d
}

func (b *boolean) Bounds() Box { return b.bounds }

// blend returns the smaller of a and b if they differ by more than r. In between,
// contour lines in the plane (a, b) are arcs of radius r, tangent to a = const and b =
// const. blend(a+c, b+c) is blend(a, b)+c, and it increases with a and b, so it changes
// no faster than they do.
func blend(a, b, r float64) float64 {
	if math.Abs(a-b) >= r {
		return min(a, b)
	}
	return (a+b+math.Sqrt(2*r*r-(a-b)*(a-b)))/2 - r
}

var bulge = 1 - math.Sqrt(0.5) // the largest excess of a blend over the smaller of a and b, in radii

func union(fillet float64, solids []Solid) (Solid, error) {
	if err := checkSolids("union", solids...); err != nil {
		return nil, err
	}
	bounds := solids[0].Bounds()
	for _, s := range solids[1:] {
		bounds = bounds.hull(s.Bounds()).grown(fillet * bulge)
	}
	return combine(boolean{s: 1, t: 1, fillet: fillet, bounds: bounds}, solids)
}

func intersection(fillet float64, solids []Solid) (Solid, error) {
	if err := checkSolids("intersection", solids...); err != nil {
		return nil, err
	}
	bounds := solids[0].Bounds()
	for _, s := range solids[1:] {
		bounds = bounds.overlap(s.Bounds())
	}
	for a := range 3 {
		if bounds.Min[a] >= bounds.Max[a] {
			return nil, errors.New("solid: the solids of an intersection are apart: nothing is in all of them")
		}
	}
	return combine(boolean{s: -1, t: -1, fillet: fillet, bounds: bounds}, solids)
}

func difference(fillet float64, s Solid, others []Solid) (Solid, error) {
	if err := checkSolids("difference", append([]Solid{s}, others...)...); err != nil {
		return nil, err
	}
	return combine(boolean{s: -1, t: 1, fillet: fillet, bounds: s.Bounds()}, append([]Solid{s}, others...))
}

func combine(b boolean, solids []Solid) (Solid, error) {
	if len(solids) == 1 {
		return solids[0], nil
	}
	b.first, b.rest = solids[0], append([]Solid(nil), solids[1:]...)
	return checked(&b)
}

func checkSolids(of string, solids ...Solid) error {
	if len(solids) == 0 {
		return errors.New("solid: a " + of + " of no solids")
	}
	for _, s := range solids {
		if s == nil {
			return errors.New("solid: a solid of the " + of + " is nil")
		}
	}
	return nil
}

type grown struct {
	solid Solid
	by    float64
}

// Round returns the solid grown by radius on all sides, which rounds its outer edges. A
// rounded cuboid of 10³ is a Cuboid of (10-2r)³, rounded by r, and then begins at z =
// -r. A cutter grown by a little makes a hole with clearance.
func Round(s Solid, radius float64) (Solid, error) {
	if err := errors.Join(checkSolids("rounding", s), checkLength("radius", radius)); err != nil {
		return nil, err
	}
	return checked(grown{s, radius})
}

func (g grown) Distance(p Vec) float64 { return g.solid.Distance(p) - g.by }
func (g grown) Bounds() Box            { return g.solid.Bounds().grown(g.by) }
