package solid

import (
	"errors"
	"math"
)

// placed is a solid that is turned or mirrored, then scaled, then moved. Transforming a
// placed solid gives one placed solid, so long chains cost nothing.
type placed struct {
	solid  Solid
	turn   [3]Vec // rows of an orthogonal matrix
	scale  float64
	offset Vec
}

var straight = [3]Vec{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}

// Translate moves a solid.
func Translate(s Solid, by Vec) (Solid, error) {
	if err := checkCoordinates("the way to move", by[:]...); err != nil {
		return nil, err
	}
	return place(s, straight, 1, by)
}

// Rotate turns a solid about an axis through the origin, by degrees: counter-clockwise
// when the axis points at the viewer.
func Rotate(s Solid, axis Vec, degrees float64) (Solid, error) {
	if err := errors.Join(checkAxis("the axis", axis), checkCoordinates("the angle", degrees)); err != nil {
		return nil, err
	}
	u := axis.unit()
	sin, cos := sincos(degrees)
	var turn [3]Vec // Rodrigues: cos·v + sin·(u × v) + (1-cos)(u·v)·u
	for r, e := range straight {
		turn[r] = e.Mul(cos).Sub(u.Cross(e).Mul(sin)).Add(u.Mul((1 - cos) * u[r]))
	}
	return place(s, turn, 1, Vec{})
}

// Scale scales a solid by factor in all directions.
func Scale(s Solid, factor float64) (Solid, error) {
	if err := checkLength("the factor", factor); err != nil {
		return nil, err
	}
	return place(s, straight, factor, Vec{})
}

// Mirror reflects a solid in the plane through the origin with a normal.
func Mirror(s Solid, normal Vec) (Solid, error) {
	if err := checkAxis("the normal", normal); err != nil {
		return nil, err
	}
	n := normal.unit()
	var turn [3]Vec
	for r, e := range straight {
		turn[r] = e.Sub(n.Mul(2 * n[r]))
	}
	return place(s, turn, 1, Vec{})
}

// sincos is exact for right angles, so that boxes stay boxes.
func sincos(degrees float64) (sin, cos float64) {
	switch math.Mod(degrees, 360) {
	case 0:
		return 0, 1
	case 90, -270:
		return 1, 0
	case 180, -180:
		return 0, -1
	case 270, -90:
		return -1, 0
	}
	return math.Sincos(math.Mod(degrees, 360) * math.Pi / 180)
}

func checkAxis(what string, v Vec) error {
	if err := checkCoordinates(what, v[:]...); err != nil {
		return err
	}
	return checkLength("the length of "+what, v.Length())
}

func apply(rows [3]Vec, v Vec) Vec { return Vec{rows[0].Dot(v), rows[1].Dot(v), rows[2].Dot(v)} }

func place(s Solid, turn [3]Vec, scale float64, offset Vec) (Solid, error) {
	if err := checkSolids("transform", s); err != nil {
		return nil, err
	}
	p := placed{s, turn, scale, offset}
	if in, ok := s.(*placed); ok {
		p.solid, p.scale = in.solid, scale*in.scale
		p.offset = offset.Add(apply(turn, in.offset).Mul(scale))
		for r := range 3 {
			p.turn[r] = in.turn[0].Mul(turn[r][0]).Add(in.turn[1].Mul(turn[r][1])).Add(in.turn[2].Mul(turn[r][2]))
		}
	}
	return checked(&p)
}

func (t *placed) Distance(p Vec) float64 {
	v := p.Sub(t.offset).Mul(1 / t.scale)
	// The inverse of the turn is its transpose.
	v = t.turn[0].Mul(v[0]).Add(t.turn[1].Mul(v[1])).Add(t.turn[2].Mul(v[2]))
	return t.scale * t.solid.Distance(v)
}

func (t *placed) Bounds() Box {
	in, out := t.solid.Bounds(), emptyBox()
	for c := range 8 {
		v := in.Min
		for a := range 3 {
			if c>>a&1 == 1 {
				v[a] = in.Max[a]
			}
		}
		v = apply(t.turn, v).Mul(t.scale).Add(t.offset)
		out = out.hull(Box{v, v})
	}
	return out
}
