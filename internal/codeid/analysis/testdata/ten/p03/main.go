// Command p03 filters pictures.
package main

import (
	"context"
	"image/color"

	"github.com/larder-data/larder/lazy"

	"programs/p03/filter"
	"programs/p03/pixels"
	"programs/p03/work"
	"programs/report"
)

var (
	synth = lazy.Lift2("synth", pixels.Synth)
	blur  = lazy.Func2("blur", func(_ context.Context, p *pixels.Plane, sigma float64) (*pixels.Plane, error) {
		return filter.Gauss(sigma).Apply(p), nil
	})
	median = lazy.Func2("median", func(_ context.Context, p *pixels.Plane, r int) (*pixels.Plane, error) {
		return filter.Median{Radius: r}.Apply(p), nil
	})
	invert = lazy.Func1("invert", func(_ context.Context, p *pixels.Plane) (*pixels.Plane, error) {
		return filter.Invert.Apply(p), nil
	})
	chain = lazy.Func2("chain", func(_ context.Context, p *pixels.Plane, s string) (*pixels.Plane, error) {
		c, err := filter.ParseChain(s)
		if err != nil {
			return nil, err
		}
		return c.Apply(p), nil
	})
	histogram = lazy.Lift2("histogram", (*pixels.Plane).Histogram)
	names     = lazy.Func0("names", func(context.Context) ([]string, error) { return filter.Names(), nil })
	dither    = lazy.Func1("dither", func(_ context.Context, p *pixels.Plane) ([]byte, error) {
		return pixels.PNG(pixels.Dither(p))
	})
	sheet = lazy.Func2("sheet", func(_ context.Context, c color.RGBA, p []*pixels.Plane) ([]byte, error) {
		return pixels.PNG(pixels.Sheet(c, p...))
	})
	many = lazy.Func1("many", func(ctx context.Context, sizes []int) ([]*pixels.Plane, error) {
		return work.Map(ctx, 2, sizes, func(_ context.Context, n int) (*pixels.Plane, error) {
			return filter.Box(3).Apply(pixels.Synth(n, n/4)), nil
		})
	})
	mean = lazy.Func1("mean", func(_ context.Context, p *pixels.Plane) (float64, error) {
		s := 0.0
		for _, v := range p.Pix {
			s += float64(v)
		}
		return s / float64(len(p.Pix)), nil
	})
)

func main() {
	r := report.Open()
	defer r.Close()
	p := synth(lazy.Of(32), lazy.Of(7))
	b := blur(p, lazy.Of(1.5))
	report.Show(r, "synth", p)
	report.Show(r, "blur", b)
	report.Show(r, "median", median(p, lazy.Of(1)))
	report.Show(r, "invert", invert(p))
	report.Show(r, "chain", chain(p, lazy.Of("sharpen|gamma|median")))
	report.Show(r, "histogram", histogram(b, lazy.Of(8)))
	report.Show(r, "names", names())
	report.Show(r, "dither", dither(b))
	report.Show(r, "sheet", sheet(lazy.Of(color.RGBA{9, 9, 99, 255}), lazy.Slice(p, b)))
	report.Show(r, "many", many(lazy.Of([]int{8, 12, 16})))
	report.Show(r, "mean", mean(b))
	report.Own2(r, "synth", synth)
	report.Own2(r, "blur", blur)
	report.Own2(r, "median", median)
	report.Own1(r, "invert", invert)
	report.Own2(r, "chain", chain)
	report.Own2(r, "histogram", histogram)
	report.Own0(r, "names", names)
	report.Own1(r, "dither", dither)
	report.Own2(r, "sheet", sheet)
	report.Own1(r, "many", many)
	report.Own1(r, "mean", mean)
}
