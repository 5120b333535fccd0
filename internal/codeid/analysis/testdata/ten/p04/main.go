// Command p04 computes with matrices and statistics.
package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/larder-data/larder/lazy"

	"programs/p04/matrix"
	"programs/p04/stats"
	"programs/report"
)

type mat = matrix.Matrix[float64]

var (
	draw = lazy.Func3("draw", func(_ context.Context, name string, seed uint64, n int) ([]float64, error) {
		d, ok := stats.Presets[name]
		if !ok {
			return nil, fmt.Errorf("no distribution %q", name)
		}
		return stats.Draw(d, seed, n), nil
	})
	normal = lazy.Func2("normal", func(_ context.Context, d stats.Normal, n int) ([]float64, error) {
		return stats.Draw(d, 1, n), nil
	})
	describe  = lazy.Func1("describe", func(_ context.Context, name string) (string, error) { return stats.Presets[name].String(), nil })
	summarize = lazy.Func1("summarize", func(_ context.Context, x []float64) (stats.Summary, error) {
		return stats.Summarize(slices.Values(x)), nil
	})
	hilbert = lazy.Func1("hilbert", func(_ context.Context, n int) (mat, error) {
		m := matrix.New[float64](n, n)
		for i, r := range m.All() {
			for j := range r {
				r[j] = 1 / float64(i+j+1)
			}
		}
		return m, nil
	})
	decompose = lazy.Func1("decompose", func(_ context.Context, m mat) (*matrix.LU[float64], error) { return matrix.Decompose(m) })
	det       = lazy.Lift1("det", (*matrix.LU[float64]).Det)
	solve     = lazy.Lift2("solve", (*matrix.LU[float64]).Solve)
	multiply  = lazy.Func2("multiply", func(_ context.Context, a, b mat) (mat, error) { return a.Mul(b) })
	text      = lazy.Lift1("text", mat.String)
	fit       = lazy.Func3("fit", func(_ context.Context, x, y []float64, degree int) (stats.Fit, error) {
		return stats.Polynomial(x, y, degree)
	})
	evaluate    = lazy.Lift2("evaluate", stats.Fit.Eval)
	correlation = lazy.Lift2("correlation", stats.Correlation)
	small       = lazy.Func1("small", func(_ context.Context, rows [][]float32) (matrix.Matrix[float32], error) {
		m, err := matrix.FromRows(rows...)
		return m.T(), err
	})
)

func main() {
	r := report.Open()
	defer r.Close()
	x := draw(lazy.Of("bimodal"), lazy.Of(uint64(3)), lazy.Of(20))
	y := normal(lazy.Of(stats.Normal{Mean: 1, Dev: 2}), lazy.Of(20))
	h := hilbert(lazy.Of(4))
	lu := decompose(h)
	report.Show(r, "draw", x)
	report.Show(r, "normal", y)
	report.Show(r, "describe", describe(lazy.Of("bimodal")))
	report.Show(r, "summarize", summarize(y))
	report.Show(r, "hilbert", h)
	report.Show(r, "decompose", lu)
	report.Show(r, "det", det(lu))
	report.Show(r, "solve", solve(lu, lazy.Of([]float64{1, 2, 3, 4})))
	report.Show(r, "multiply", multiply(h, h))
	report.Show(r, "text", text(h))
	report.Show(r, "fit", fit(x, y, lazy.Of(2)))
	report.Show(r, "evaluate", evaluate(fit(x, y, lazy.Of(1)), lazy.Of(2.0)))
	report.Show(r, "correlation", correlation(x, y))
	report.Show(r, "small", small(lazy.Of([][]float32{{1, 2}, {3, 4}})))
	report.Own3(r, "draw", draw)
	report.Own2(r, "normal", normal)
	report.Own1(r, "describe", describe)
	report.Own1(r, "summarize", summarize)
	report.Own1(r, "hilbert", hilbert)
	report.Own1(r, "decompose", decompose)
	report.Own1(r, "det", det)
	report.Own2(r, "solve", solve)
	report.Own2(r, "multiply", multiply)
	report.Own1(r, "text", text)
	report.Own3(r, "fit", fit)
	report.Own2(r, "evaluate", evaluate)
	report.Own2(r, "correlation", correlation)
	report.Own1(r, "small", small)
}
