// Command p10 plays life.
package main

import (
	"context"

	"github.com/larder-data/larder/lazy"

	"programs/p10/grid"
	"programs/p10/life"
	"programs/report"
)

// Births is a generation with how many were born.
type Births struct {
	World *life.World
	Born  int
}

var (
	rule   = lazy.Func1("rule", func(_ context.Context, s string) (life.Rule, error) { return life.Named(s) })
	parse  = lazy.Func1("parse", func(_ context.Context, s string) (*life.World, error) { return life.Parse(s) })
	random = lazy.Func3("random", func(_ context.Context, seed int64, n int, density float64) (*life.World, error) {
		return life.Random(seed, n, n, density), nil
	})
	run      = lazy.Lift3("run", life.Run)
	step     = lazy.Lift2("step", life.Rule.Step)
	parallel = lazy.Func2("parallel", func(_ context.Context, r life.Rule, w *life.World) (Births, error) {
		g, n := r.Parallel(w, 4)
		return Births{g, n}, nil
	})
	conway = lazy.Func1("conway", func(_ context.Context, w *life.World) (*life.World, error) { return life.Conway.Step(w), nil })
	text   = lazy.Lift1("text", life.Text)
	period = lazy.Lift3("period", life.Period)
	brot   = lazy.Lift1("mandelbrot", life.Mandelbrot)
	shade  = lazy.Lift2("shade", life.Shade)
	living = lazy.Func1("living", func(_ context.Context, w *life.World) (int, error) {
		n := 0
		for _, v := range w.All() {
			if v {
				n++
			}
		}
		return n, nil
	})
	double = lazy.Func1("double", func(_ context.Context, g *grid.Grid[int]) (*grid.Grid[float64], error) {
		return grid.Convert(g, func(n int) float64 { return float64(n) * 2 }), nil
	})
)

const glider = ".#...\n..#..\n###..\n.....\n....."

func main() {
	r := report.Open()
	defer r.Close()
	ru := rule(lazy.Of("highlife"))
	w := parse(lazy.Of(glider))
	report.Show(r, "rule", ru)
	report.Show(r, "parse", w)
	report.Show(r, "random", random(lazy.Of(int64(4)), lazy.Of(8), lazy.Of(0.4)))
	report.Show(r, "run", run(ru, w, lazy.Of(4)))
	report.Show(r, "step", step(ru, w))
	report.Show(r, "parallel", parallel(ru, w))
	report.Show(r, "conway", conway(w))
	report.Show(r, "text", text(w))
	report.Show(r, "period", period(ru, w, lazy.Of(100)))
	b := brot(lazy.Of(life.View{Centre: -0.5, Size: 3, W: 20, H: 10, Limit: 50}))
	report.Show(r, "mandelbrot", b)
	report.Show(r, "shade", shade(b, lazy.Of(50)))
	report.Show(r, "living", living(w))
	report.Show(r, "double", double(b))
	report.Own1(r, "rule", rule)
	report.Own1(r, "parse", parse)
	report.Own3(r, "random", random)
	report.Own3(r, "run", run)
	report.Own2(r, "step", step)
	report.Own2(r, "parallel", parallel)
	report.Own1(r, "conway", conway)
	report.Own1(r, "text", text)
	report.Own3(r, "period", period)
	report.Own1(r, "mandelbrot", brot)
	report.Own2(r, "shade", shade)
	report.Own1(r, "living", living)
	report.Own1(r, "double", double)
}
