// Package geom has points, polygons and what is computed of them.
package geom

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"programs/p06/copied/ring"
	"programs/p06/copied/sort"
)

// A Point is a place.
type Point struct{ X, Y float64 }

// Origin is where coordinates start.
var Origin = Point{}

// Add and Sub compute with vectors.
func (p Point) Add(q Point) Point { return Point{p.X + q.X, p.Y + q.Y} }

// Sub subtracts.
func (p Point) Sub(q Point) Point { return Point{p.X - q.X, p.Y - q.Y} }

// Cross is the area of two vectors.
func (p Point) Cross(q Point) float64 { return p.X*q.Y - p.Y*q.X }

// Dist is a distance.
func (p Point) Dist(q Point) float64 { return math.Hypot(p.X-q.X, p.Y-q.Y) }

// String implements fmt.Stringer.
func (p Point) String() string { return fmt.Sprintf("(%g %g)", p.X, p.Y) }

// A ParseError says which text is no point.
type ParseError struct {
	Text string
	Err  error
}

func (e *ParseError) Error() string { return strconv.Quote(e.Text) + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *ParseError) Unwrap() error { return e.Err }

var errCoordinates = errors.New("want two coordinates")

// ParsePoints reads "1,2 3,4".
func ParsePoints(s string) ([]Point, error) {
	var out []Point
	for _, f := range strings.Fields(s) {
		xs, ys, ok := strings.Cut(f, ",")
		if !ok {
			return nil, &ParseError{f, errCoordinates}
		}
		x, err := strconv.ParseFloat(xs, 64)
		if err != nil {
			return nil, &ParseError{f, err}
		}
		y, err := strconv.ParseFloat(ys, 64)
		if err != nil {
			return nil, &ParseError{f, err}
		}
		out = append(out, Point{x, y})
	}
	return out, nil
}

type byXY []Point

func (b byXY) Len() int      { return len(b) }
func (b byXY) Swap(i, j int) { b[i], b[j] = b[j], b[i] }
func (b byXY) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(b[i].X, b[j].X), cmp.Compare(b[i].Y, b[j].Y)) < 0
}

// Hull is the convex hull, anticlockwise.
func Hull(points []Point) Polygon {
	ps := append([]Point(nil), points...)
	sort.Sort(byXY(ps))
	half := func(ps []Point) []Point {
		var h []Point
		for _, p := range ps {
			for len(h) > 1 && h[len(h)-1].Sub(h[len(h)-2]).Cross(p.Sub(h[len(h)-2])) <= 0 {
				h = h[:len(h)-1]
			}
			h = append(h, p)
		}
		return h[:max(0, len(h)-1)]
	}
	lower := half(ps)
	sort.Sort(sort.Reverse(byXY(ps)))
	return append(Polygon(lower), half(ps)...)
}

// A Polygon is closed.
type Polygon []Point

// Area is positive if it goes anticlockwise.
func (g Polygon) Area() float64 {
	a := 0.0
	for i, p := range g {
		a += p.Cross(g[(i+1)%len(g)])
	}
	return a / 2
}

// Perimeter is the length of the border.
func (g Polygon) Perimeter() float64 {
	l := 0.0
	for i, p := range g {
		l += p.Dist(g[(i+1)%len(g)])
	}
	return l
}

// Contains tells whether a point is inside.
func (g Polygon) Contains(p Point) bool {
	in := false
	for i, a := range g {
		b := g[(i+1)%len(g)]
		if (a.Y > p.Y) != (b.Y > p.Y) && p.X < (b.X-a.X)*(p.Y-a.Y)/(b.Y-a.Y)+a.X {
			in = !in
		}
	}
	return in
}

// Triangulate cuts ears.
func (g Polygon) Triangulate() []Polygon {
	r := ring.New(len(g))
	for _, p := range g {
		r.Value = p
		r = r.Next()
	}
	var out []Polygon
	for n, tries := len(g), 0; n > 2 && tries < 2*n; tries++ {
		a, b, c := r.Prev().Value.(Point), r.Value.(Point), r.Next().Value.(Point)
		t := Polygon{a, b, c}
		if t.Area() > 0 && !g.anyInside(t) {
			out = append(out, t)
			r = r.Prev()
			r.Unlink(1)
			n, tries = n-1, 0
			continue
		}
		r = r.Next()
	}
	return out
}

func (g Polygon) anyInside(t Polygon) bool {
	for _, p := range g {
		if p != t[0] && p != t[1] && p != t[2] && t.Contains(p) {
			return true
		}
	}
	return false
}

// Nearest sorts points by their distance to one.
func Nearest(points []Point, to Point, k int) []Point {
	ps := append([]Point(nil), points...)
	sort.SliceStable(ps, func(i, j int) bool { return ps[i].Dist(to) < ps[j].Dist(to) })
	return ps[:min(k, len(ps))]
}
