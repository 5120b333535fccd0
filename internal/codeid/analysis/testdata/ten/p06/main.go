// Command p06 computes with shapes.
package main

import (
	"context"
	"strings"

	"github.com/larder-data/larder/lazy"

	"programs/p06/geom"
	"programs/p06/shapes"
	"programs/report"
)

var (
	points = lazy.Func1("points", func(_ context.Context, s string) ([]geom.Point, error) { return geom.ParsePoints(s) })
	hull   = lazy.Lift1("hull", geom.Hull)
	area   = lazy.Lift1("area", geom.Polygon.Area)
	around = lazy.Lift1("perimeter", geom.Polygon.Perimeter)
	inside = lazy.Lift2("inside", geom.Polygon.Contains)
	cut    = lazy.Lift1("triangulate", geom.Polygon.Triangulate)
	near   = lazy.Lift3("nearest", geom.Nearest)
	circle = lazy.Func2("circle", func(_ context.Context, c geom.Point, r float64) (geom.Polygon, error) {
		return shapes.Circle{Centre: c, R: r}.Outline(), nil
	})
	total = lazy.Func1("total", func(_ context.Context, js string) (float64, error) {
		s, err := shapes.Decode([]byte(js))
		if err != nil {
			return 0, err
		}
		return s.Area(), nil
	})
	svg = lazy.Func2("svg", func(_ context.Context, js string, st *shapes.Style) (string, error) {
		s, err := shapes.Decode([]byte(js))
		if err != nil {
			return "", err
		}
		var b strings.Builder
		err = s.Accept(shapes.NewSVG(&b, st))
		return b.String(), err
	})
	boxes = lazy.Func1("boxes", func(_ context.Context, n int) (string, error) {
		g := shapes.Group{Name: "boxes"}
		for i := range n {
			p := geom.Point{X: float64(i * 10)}
			g.Shapes = append(g.Shapes, shapes.Rect{Min: p, Max: p.Add(geom.Point{X: 8, Y: 8})})
		}
		var b strings.Builder
		err := shapes.NewSVG(&b, nil).Group(g)
		return b.String(), err
	})
)

const drawing = `{"kind": "group", "name": "all", "shapes": [
	{"kind": "circle", "centre": {"x": 1, "y": 2}, "r": 3},
	{"kind": "rect", "min": {"x": 0, "y": 0}, "max": {"x": 4, "y": 5}}]}`

func main() {
	r := report.Open()
	defer r.Close()
	p := points(lazy.Of("0,0 4,0 4,4 0,4 2,2 1,3 2,-1"))
	h := hull(p)
	report.Show(r, "points", p)
	report.Show(r, "hull", h)
	report.Show(r, "area", area(h))
	report.Show(r, "perimeter", around(h))
	report.Show(r, "inside", inside(h, lazy.Of(geom.Point{X: 1, Y: 1})))
	report.Show(r, "triangulate", cut(h))
	report.Show(r, "nearest", near(p, lazy.Of(geom.Point{X: 1, Y: 1}), lazy.Of(2)))
	report.Show(r, "circle", circle(lazy.Of(geom.Origin), lazy.Of(2.0)))
	report.Show(r, "total", total(lazy.Of(drawing)))
	report.Show(r, "svg", svg(lazy.Of(drawing), lazy.Of(&shapes.Style{Fill: "red", Stroke: "blue"})))
	report.Show(r, "boxes", boxes(lazy.Of(3)))
	report.Own1(r, "points", points)
	report.Own1(r, "hull", hull)
	report.Own1(r, "area", area)
	report.Own1(r, "perimeter", around)
	report.Own2(r, "inside", inside)
	report.Own1(r, "triangulate", cut)
	report.Own3(r, "nearest", near)
	report.Own2(r, "circle", circle)
	report.Own1(r, "total", total)
	report.Own2(r, "svg", svg)
	report.Own1(r, "boxes", boxes)
}
