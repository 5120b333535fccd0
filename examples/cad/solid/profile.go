package solid

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// A Point is a point of the plane: x, y.
type Point [2]float64

// A Profile is a flat shape for [Extrude] or [Revolve]. Profiles are immutable and may
// be used by many goroutines.
type Profile interface {
	// Distance returns how far p is from the outline, negative inside. Between two points
	// it changes by at most the distance between them.
	Distance(p Point) float64
	// Bounds returns the corners of a rectangle around the shape.
	Bounds() (lo, hi Point)
}

type rectangle struct{ half Point }

// Rectangle returns a rectangle centred on the origin.
func Rectangle(width, height float64) (Profile, error) {
	if err := errors.Join(checkLength("width", width), checkLength("height", height)); err != nil {
		return nil, err
	}
	return rectangle{Point{width / 2, height / 2}}, nil
}

func (r rectangle) Distance(p Point) float64 {
	return corner(math.Abs(p[0])-r.half[0], math.Abs(p[1])-r.half[1])
}

func (r rectangle) Bounds() (lo, hi Point) { return Point{-r.half[0], -r.half[1]}, r.half }

// corner returns the distance to a right-angled corner, given those to its sides.
func corner(a, b float64) float64 {
	if a > 0 && b > 0 {
		return math.Sqrt(a*a + b*b)
	}
	return max(a, b)
}

type circle struct{ radius float64 }

// Circle returns a circle centred on the origin.
func Circle(radius float64) (Profile, error) {
	if err := checkLength("radius", radius); err != nil {
		return nil, err
	}
	return circle{radius}, nil
}

func (c circle) Distance(p Point) float64 { return math.Sqrt(p[0]*p[0]+p[1]*p[1]) - c.radius }
func (c circle) Bounds() (lo, hi Point) {
	return Point{-c.radius, -c.radius}, Point{c.radius, c.radius}
}

const maxPoints = 1000 // of a polygon: each evaluation visits all

type polygon struct {
	points []Point
	turned bool // it is revolved: sides on the axis are not part of the outline
	lo, hi Point
}

// Polygon returns a polygon with the given corners, in either direction. No side may
// touch another one. The list is copied.
func Polygon(points ...Point) (Profile, error) {
	if len(points) < 3 || len(points) > maxPoints {
		return nil, fmt.Errorf("solid: a polygon of %d points; it has to have 3 to %d", len(points), maxPoints)
	}
	g := &polygon{points: slices.Clone(points), lo: points[0], hi: points[0]}
	n := len(points)
	for i, p := range points {
		if err := checkCoordinates(fmt.Sprintf("point %d of the polygon", i), p[0], p[1]); err != nil {
			return nil, err
		}
		if next := points[(i+1)%n]; math.Hypot(next[0]-p[0], next[1]-p[1]) < MinLength {
			return nil, fmt.Errorf("solid: points %d and %d of the polygon, %v, are the same", i, (i+1)%n, p)
		}
		for a := range 2 {
			g.lo[a], g.hi[a] = min(g.lo[a], p[a]), max(g.hi[a], p[a])
		}
	}
	for i := range n {
		for j := i + 2; j < n && j-i < n-1; j++ {
			if touch(points[i], points[i+1], points[j], points[(j+1)%n]) {
				return nil, fmt.Errorf("solid: the sides of the polygon that start at points %d and %d touch", i, j)
			}
		}
	}
	if n == 3 && turn(points[0], points[1], points[2]) == 0 {
		return nil, errors.New("solid: the points of the triangle lie on a line")
	}
	return g, nil
}

// turn is positive if a, b, c is a turn to the left, and 0 if they are collinear.
func turn(a, b, c Point) float64 {
	return (b[0]-a[0])*(c[1]-a[1]) - (b[1]-a[1])*(c[0]-a[0])
}

// touch reports whether the segments ab and cd have a common point.
func touch(a, b, c, d Point) bool {
	for x := range 2 {
		if max(a[x], b[x]) < min(c[x], d[x]) || max(c[x], d[x]) < min(a[x], b[x]) {
			return false
		}
	}
	return turn(a, b, c)*turn(a, b, d) <= 0 && turn(c, d, a)*turn(c, d, b) <= 0
}

func (g *polygon) Distance(p Point) float64 {
	nearest := math.Inf(1) // squared
	inside := false
	a := g.points[len(g.points)-1]
	for _, b := range g.points {
		side, to := Point{b[0] - a[0], b[1] - a[1]}, Point{p[0] - a[0], p[1] - a[1]}
		if !g.turned || a[0] > 0 || b[0] > 0 {
			t := (to[0]*side[0] + to[1]*side[1]) / (side[0]*side[0] + side[1]*side[1])
			t = max(0, min(1, t))
			x, y := to[0]-t*side[0], to[1]-t*side[1]
			nearest = min(nearest, x*x+y*y)
		}
		// A ray to the right meets the outline an odd number of times.
		if (a[1] > p[1]) != (b[1] > p[1]) && to[0] < to[1]/side[1]*side[0] {
			inside = !inside
		}
		a = b
	}
	if inside {
		return -math.Sqrt(nearest)
	}
	return math.Sqrt(nearest)
}

func (g *polygon) Bounds() (lo, hi Point) { return g.lo, g.hi }

// RegularPolygon returns a polygon with 3 to 100 sides, centred on the origin. Its sides
// touch a circle of the diameter acrossFlats, the size of the spanner for a hexagon. The
// first side touches it on the positive x axis.
func RegularPolygon(sides int, acrossFlats float64) (Profile, error) {
	if sides < 3 || sides > 100 {
		return nil, fmt.Errorf("solid: a regular polygon of %d sides; it has to have 3 to 100", sides)
	}
	if err := checkLength("the width across flats", acrossFlats); err != nil {
		return nil, err
	}
	points := make([]Point, sides)
	for i := range points {
		half := math.Pi / float64(sides)
		sin, cos := math.Sincos(half * float64(2*i+1))
		r := acrossFlats / 2 / math.Cos(half)
		points[i] = Point{r * cos, r * sin}
	}
	return Polygon(points...)
}

type rounded struct {
	profile Profile
	radius  float64
}

// Rounded returns the profile grown by radius, which rounds its corners. A rounded
// rectangle of 10 by 6 is Rounded(Rectangle(10-2r, 6-2r), r).
func Rounded(p Profile, radius float64) (Profile, error) {
	if p == nil {
		return nil, errors.New("solid: no profile to round")
	}
	if err := checkLength("radius", radius); err != nil {
		return nil, err
	}
	return rounded{p, radius}, nil
}

func (r rounded) Distance(p Point) float64 { return r.profile.Distance(p) - r.radius }
func (r rounded) Bounds() (lo, hi Point) {
	lo, hi = r.profile.Bounds()
	return Point{lo[0] - r.radius, lo[1] - r.radius}, Point{hi[0] + r.radius, hi[1] + r.radius}
}
