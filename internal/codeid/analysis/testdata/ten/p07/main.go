// Command p07 simulates a shop.
package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/larder-data/larder/lazy"

	"programs/p07/model"
	"programs/p07/sim"
	"programs/report"
)

var (
	simulate = lazy.Func1("simulate", func(_ context.Context, o model.Options) (model.Result, error) { return model.Simulate(o) })
	mean     = lazy.Lift1("mean", model.Result.Mean)
	p90      = lazy.Func1("p90", func(_ context.Context, r model.Result) (time.Duration, error) { return r.Percentile(0.9), nil })
	lines    = lazy.Func1("lines", func(_ context.Context, r model.Result) (int, error) { return strings.Count(r.Log, "\n"), nil })
	walk     = lazy.Func2("walk", func(_ context.Context, seed int64, n int) ([]int, error) { return model.Walk(seed, n) })
	limit    = lazy.Func1("limit", func(_ context.Context, o model.Options) (int, error) {
		o.Limit = 10
		_, err := model.Simulate(o)
		var le sim.LimitError
		if errors.As(err, &le) {
			return le.Limit, nil
		}
		return 0, err
	})
	pick = lazy.Func1("pick", func(_ context.Context, jobs []time.Duration) (int, error) {
		var cs []*model.Customer
		for i, j := range jobs {
			cs = append(cs, &model.Customer{ID: i, Job: j})
		}
		return model.Shortest{}.Next(cs), nil
	})
	vip = lazy.Func1("vip", func(_ context.Context, w map[string]float64) (string, error) {
		return model.Weighted{Weights: w}.String(), nil
	})
	countdown = lazy.Func1("countdown", func(_ context.Context, n int) ([]string, error) {
		w := sim.New(sim.Config{}, nil)
		var out []string
		for i := range n {
			w.After(time.Duration(n-i)*time.Second, sim.EventFunc(func(w *sim.World) error {
				out = append(out, w.Now.String())
				return nil
			}))
		}
		return out, w.Run(time.Hour)
	})
)

func main() {
	r := report.Open()
	defer r.Close()
	o := lazy.Of(model.Options{Policy: "vip", VIP: 0.2, Config: sim.Config{Seed: 1, Until: 2 * time.Hour}})
	res := simulate(o)
	report.Show(r, "simulate", res)
	report.Show(r, "mean", mean(res))
	report.Show(r, "p90", p90(res))
	report.Show(r, "lines", lines(res))
	report.Show(r, "walk", walk(lazy.Of(int64(5)), lazy.Of(10)))
	report.Show(r, "limit", limit(o))
	report.Show(r, "pick", pick(lazy.Of([]time.Duration{5, 3, 4})))
	report.Show(r, "vip", vip(lazy.Of(map[string]float64{"a": 1})))
	report.Show(r, "countdown", countdown(lazy.Of(3)))
	report.Own1(r, "simulate", simulate)
	report.Own1(r, "mean", mean)
	report.Own1(r, "p90", p90)
	report.Own1(r, "lines", lines)
	report.Own2(r, "walk", walk)
	report.Own1(r, "limit", limit)
	report.Own1(r, "pick", pick)
	report.Own1(r, "vip", vip)
	report.Own1(r, "countdown", countdown)
}
