package solid

import (
	"fmt"
	"math"
)

// A Vec is a point or a direction: x, y, z.
type Vec [3]float64

// Add returns v + w.
func (v Vec) Add(w Vec) Vec { return Vec{v[0] + w[0], v[1] + w[1], v[2] + w[2]} }

// Sub returns v - w.
func (v Vec) Sub(w Vec) Vec { return Vec{v[0] - w[0], v[1] - w[1], v[2] - w[2]} }

// Mul returns v scaled by f.
func (v Vec) Mul(f float64) Vec { return Vec{v[0] * f, v[1] * f, v[2] * f} }

// Dot returns the scalar product.
func (v Vec) Dot(w Vec) float64 { return v[0]*w[0] + v[1]*w[1] + v[2]*w[2] }

// Cross returns the vector product.
func (v Vec) Cross(w Vec) Vec {
	return Vec{v[1]*w[2] - v[2]*w[1], v[2]*w[0] - v[0]*w[2], v[0]*w[1] - v[1]*w[0]}
}

// Length returns the Euclidean length.
func (v Vec) Length() float64 { return math.Sqrt(v.Dot(v)) }

// unit returns v scaled to length 1; a zero v is unchanged.
func (v Vec) unit() Vec {
	if l := v.Length(); l > 0 {
		return v.Mul(1 / l)
	}
	return v
}

// A Box is a box whose faces are parallel to the axes.
type Box struct{ Min, Max Vec }

// emptyBox returns a box that contains nothing: the start of a search for bounds.
func emptyBox() Box {
	inf := math.Inf(1)
	return Box{Vec{inf, inf, inf}, Vec{-inf, -inf, -inf}}
}

// Size returns the lengths of the edges.
func (b Box) Size() Vec { return b.Max.Sub(b.Min) }

func (b Box) hull(c Box) Box {
	for a := range 3 {
		b.Min[a], b.Max[a] = min(b.Min[a], c.Min[a]), max(b.Max[a], c.Max[a])
	}
	return b
}

func (b Box) overlap(c Box) Box {
	for a := range 3 {
		b.Min[a], b.Max[a] = max(b.Min[a], c.Min[a]), min(b.Max[a], c.Max[a])
	}
	return b
}

func (b Box) grown(r float64) Box {
	return Box{b.Min.Sub(Vec{r, r, r}), b.Max.Add(Vec{r, r, r})}
}

// check refuses a box without volume, or beyond MaxLength of the origin.
func (b Box) check() error {
	for a := range 3 {
		if b.Min[a] < b.Max[a] && b.Min[a] >= -MaxLength && b.Max[a] <= MaxLength {
			continue
		}
		return fmt.Errorf("solid: along %c it would reach from %v to %v; it has to have a size and lie within %v of the origin",
			'x'+rune(a), b.Min[a], b.Max[a], float64(MaxLength))
	}
	return nil
}

// Lengths are in any consistent unit; the examples use millimetres. Shorter or longer
// lengths are treated as mistakes.
const (
	MinLength = 1e-6
	MaxLength = 1e6
)

func checkLength(what string, v float64) error {
	if v >= MinLength && v <= MaxLength {
		return nil
	}
	return fmt.Errorf("solid: %s is %v; it has to be from %v to %v", what, v, MinLength, float64(MaxLength))
}

func checkCoordinates(what string, vs ...float64) error {
	for _, v := range vs {
		if math.Abs(v) <= MaxLength { // false for NaN
			continue
		}
		return fmt.Errorf("solid: %s has a coordinate %v; it has to be within %v of 0", what, v, float64(MaxLength))
	}
	return nil
}
