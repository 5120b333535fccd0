// Package shapes has shapes that can be drawn.
package shapes

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"

	"programs/p06/geom"
)

// A Shape has an area and an outline.
type Shape interface {
	Area() float64
	Outline() geom.Polygon
	Accept(Visitor) error
}

// A Visitor is called with each kind of shape.
type Visitor interface {
	Circle(Circle) error
	Rect(Rect) error
	Group(Group) error
}

type (
	// Circle is round.
	Circle struct {
		Centre geom.Point
		R      float64
	}
	// Rect is a box.
	Rect struct{ Min, Max geom.Point }
	// Group is several shapes.
	Group struct {
		Name   string
		Shapes []Shape
	}
)

// Area implements Shape.
func (c Circle) Area() float64 { return math.Pi * c.R * c.R }

// Area implements Shape.
func (r Rect) Area() float64 { d := r.Max.Sub(r.Min); return d.X * d.Y }

// Area implements Shape.
func (g Group) Area() (a float64) {
	for _, s := range g.Shapes {
		a += s.Area()
	}
	return a
}

const segments = 16

// Outline implements Shape.
func (c Circle) Outline() geom.Polygon {
	var out geom.Polygon
	for i := range segments {
		s, co := math.Sincos(2 * math.Pi * float64(i) / segments)
		out = append(out, c.Centre.Add(geom.Point{X: c.R * co, Y: c.R * s}))
	}
	return out
}

// Outline implements Shape.
func (r Rect) Outline() geom.Polygon {
	return geom.Polygon{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}}
}

// Outline implements Shape.
func (g Group) Outline() geom.Polygon {
	var all []geom.Point
	for _, s := range g.Shapes {
		all = append(all, s.Outline()...)
	}
	return geom.Hull(all)
}

// Accept implements Shape.
func (c Circle) Accept(v Visitor) error { return v.Circle(c) }

// Accept implements Shape.
func (r Rect) Accept(v Visitor) error { return v.Rect(r) }

// Accept implements Shape.
func (g Group) Accept(v Visitor) error { return v.Group(g) }

// An SVG writes shapes as SVG.
type SVG struct {
	w     io.Writer
	depth int
	Style Style
}

// Style says how shapes look.
type Style struct {
	Fill, Stroke string
	Width        float64
}

// DefaultStyle is black lines.
var DefaultStyle = Style{"none", "black", 1}

// NewSVG returns a visitor.
func NewSVG(w io.Writer, s *Style) *SVG {
	if s == nil {
		s = &DefaultStyle
	}
	return &SVG{w: w, Style: *s}
}

func (s *SVG) line(format string, args ...any) error {
	_, err := fmt.Fprintf(s.w, strings.Repeat("  ", s.depth)+format+"\n", args...)
	return err
}

// Circle implements Visitor.
func (s *SVG) Circle(c Circle) error {
	return s.line(`<circle cx="%g" cy="%g" r="%g" stroke=%q/>`, c.Centre.X, c.Centre.Y, c.R, s.Style.Stroke)
}

// Rect implements Visitor.
func (s *SVG) Rect(r Rect) error {
	d := r.Max.Sub(r.Min)
	return s.line(`<rect x="%g" y="%g" width="%g" height="%g" fill=%q/>`, r.Min.X, r.Min.Y, d.X, d.Y, s.Style.Fill)
}

// Group implements Visitor.
func (s *SVG) Group(g Group) error {
	if err := s.line("<g id=%q>", g.Name); err != nil {
		return err
	}
	s.depth++
	for _, x := range g.Shapes {
		if err := x.Accept(s); err != nil {
			return err
		}
	}
	s.depth--
	return s.line("</g>")
}

// makers make shapes of JSON by their kind.
var makers = map[string]func(json.RawMessage) (Shape, error){
	"circle": decode[Circle],
	"rect":   decode[Rect],
}

func init() { makers["group"] = decodeGroup }

func decode[T Shape](b json.RawMessage) (Shape, error) {
	var v T
	err := json.Unmarshal(b, &v)
	return v, err
}

func decodeGroup(b json.RawMessage) (Shape, error) {
	var raw struct {
		Name   string
		Shapes []json.RawMessage
	}
	if err := json.Unmarshal(b, &raw); err != nil {
		return nil, err
	}
	g := Group{Name: raw.Name}
	for _, r := range raw.Shapes {
		s, err := Decode(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", raw.Name, err)
		}
		g.Shapes = append(g.Shapes, s)
	}
	return g, nil
}

// Decode reads a shape.
func Decode(b []byte) (Shape, error) {
	var head struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, err
	}
	m, ok := makers[head.Kind]
	if !ok {
		return nil, fmt.Errorf("shapes: no kind %q", head.Kind)
	}
	return m(b)
}
