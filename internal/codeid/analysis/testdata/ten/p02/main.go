// Command p02 evaluates expressions.
package main

import (
	"context"
	"errors"
	"slices"

	"github.com/larder-data/larder/lazy"

	"programs/p02/calc"
	"programs/p02/lang"
	"programs/report"
)

type vars = map[string]float64

// A Point of a function's graph.
type Point struct{ X, Y float64 }

var (
	format = lazy.Func1("format", func(_ context.Context, s string) (string, error) {
		n, err := lang.Parse("main", s)
		if err != nil {
			return "", err
		}
		return lang.Format(n), nil
	})
	names = lazy.Func1("names", func(_ context.Context, s string) ([]string, error) {
		n, err := lang.Parse("main", s)
		if err != nil {
			return nil, err
		}
		var out []string
		lang.Walk(n, func(n lang.Node) bool {
			if n, ok := n.(*lang.Name); ok {
				out = append(out, n.Name)
			}
			return true
		})
		slices.Sort(out)
		return slices.Compact(out), nil
	})
	complain = lazy.Func1("complain", func(_ context.Context, s string) (string, error) {
		_, err := lang.Parse("main", s)
		var se *lang.SyntaxError
		if errors.As(err, &se) {
			return se.Msg, nil
		}
		return "", err
	})
	eval = lazy.Func2("eval", func(_ context.Context, s string, v vars) (float64, error) {
		n, err := lang.Parse("main", s)
		if err != nil {
			return 0, err
		}
		return calc.Eval(n, calc.NewScope(v))
	})
	undefined = lazy.Func1("undefined", func(_ context.Context, s string) (string, error) {
		n, err := lang.Parse("main", s)
		if err != nil {
			return "", err
		}
		_, err = calc.Eval(n, calc.NewScope(nil))
		var u calc.UndefinedError
		if errors.As(err, &u) {
			return u.Kind + " " + u.Name, nil
		}
		return "", err
	})
	plot = lazy.Func3("plot", func(_ context.Context, s string, from, to float64) ([]Point, error) {
		e := calc.NewEngine(4, nil)
		var out []Point
		for i := range 5 {
			x := from + (to-from)*float64(i)/4
			y, err := e.Eval(s, vars{"x": x})
			if err != nil {
				return nil, err
			}
			out = append(out, Point{x, y})
		}
		return out, nil
	})
	table = lazy.Func1("table", func(_ context.Context, exprs []string) ([]float64, error) {
		e := calc.NewEngine(2, nil)
		out := make([]float64, len(exprs))
		for i, s := range exprs {
			v, err := e.Eval(s, nil)
			if err != nil {
				return nil, err
			}
			out[i] = v
		}
		return append(out, float64(e.Hits)), nil
	})
	functions = lazy.Func0("functions", func(context.Context) ([]string, error) { return calc.Functions(), nil })
	sum       = lazy.Func1("sum", func(_ context.Context, p []Point) (float64, error) {
		s := 0.0
		for _, p := range p {
			s += p.Y
		}
		return s, nil
	})
)

func main() {
	r := report.Open()
	defer r.Close()
	report.Show(r, "format", format(lazy.Of("1 + 2*x^-y^2 - max(1, 2, z)")))
	report.Show(r, "names", names(lazy.Of("a + b*sin(c) + a")))
	report.Show(r, "complain", complain(lazy.Of("1 + + *")))
	report.Show(r, "eval", eval(lazy.Of("let r = hyp(3, 4); r*pi + x"), lazy.Of(vars{"x": 0.5})))
	report.Show(r, "undefined", undefined(lazy.Of("1 + foo(3)")))
	p := plot(lazy.Of("x^2 - fact(3)"), lazy.Of(-2.0), lazy.Of(2.0))
	report.Show(r, "plot", p)
	report.Show(r, "table", table(lazy.Of([]string{"1+1", "sqrt(2)", "1+1", "3<4", "sqrt(2)"})))
	report.Show(r, "functions", functions())
	report.Show(r, "sum", sum(p))
	report.Own1(r, "format", format)
	report.Own1(r, "names", names)
	report.Own1(r, "complain", complain)
	report.Own2(r, "eval", eval)
	report.Own1(r, "undefined", undefined)
	report.Own3(r, "plot", plot)
	report.Own1(r, "table", table)
	report.Own0(r, "functions", functions)
	report.Own1(r, "sum", sum)
}
