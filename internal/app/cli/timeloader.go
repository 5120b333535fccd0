package cli

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"text/tabwriter"
	"time"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/loader"
	"github.com/larder-data/larder/order"
	"github.com/larder-data/larder/pool"
)

// loaderTimes is the result of larder timeit --loader.
type loaderTimes struct {
	Stages []passStage `json:"stages"`
	Passes []passTime  `json:"passes"`
}

// passStage is a stage in the cold pass, or in the later passes.
type passStage struct {
	Pass string `json:"pass"`
	loader.Stage
}

// passTime is the speed of building batches in some passes.
type passTime struct {
	Pass    string  `json:"pass"`
	Workers int     `json:"workers"`
	Samples int     `json:"samples"`
	Rate    float64 `json:"samples_per_second"`
}

// measureLoader builds batches of a node: with one worker, so that each stage
// is measured alone, and then with all.
func (f timeitFlags) measureLoader(ctx context.Context, fl *flow.Flow, node string, o flow.RunOptions) (*loaderTimes, error) {
	data, err := fl.Open(ctx, node, o)
	if err != nil {
		return nil, err
	}
	samples, err := data.Single()
	if err != nil {
		return nil, usageError{fmt.Errorf("node %s: %w", node, err)}
	}
	var times loaderTimes
	for _, p := range []struct {
		name          string
		workers, runs int
	}{{"cold", 1, 1}, {"warm", 1, f.runs - 1}, {"warm", runtime.GOMAXPROCS(0), f.runs - 1}} {
		if p.runs > 0 {
			if err := f.loaderPass(ctx, samples, p.name, p.workers, p.runs, &times); err != nil {
				return nil, err
			}
		}
	}
	return &times, nil
}

// loaderPass builds the batches a number of times.
func (f timeitFlags) loaderPass(ctx context.Context, samples component.Samples, pass string, workers, runs int, times *loaderTimes) error {
	part := loader.Part{}
	if n := samples.Len(); n > f.samples {
		part.Only = order.Affine{Step: 1, N: f.samples}
	}
	alone := workers == 1
	l, err := loader.New(loader.Options{
		Data: []loader.Data{samples}, Pool: pool.New(workers), MeasureAll: alone,
		Plan: loader.PlanOptions{Parts: []loader.Part{part}, Batch: loader.BatchOptions{Size: f.batch}},
	})
	if err != nil {
		return usageError{err}
	}
	o := loader.ReadOptions{Epochs: runs}
	if alone {
		o.Ahead = 1
	}
	start := time.Now()
	r, err := l.Read(ctx, o)
	if err != nil {
		return err
	}
	defer r.Close()
	count := 0
	for range runs {
		for b, err := range r.Batches(ctx) {
			if err != nil {
				return err
			}
			count += len(b.Samples)
			b.Release()
		}
	}
	times.Passes = append(times.Passes, passTime{pass, workers, count, float64(count) / time.Since(start).Seconds()})
	for _, s := range l.Stages() {
		if alone {
			times.Stages = append(times.Stages, passStage{pass, s})
		}
	}
	return nil
}

// write writes a human-readable report.
func (t *loaderTimes) write(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "stage\tpass\ta sample\tshare\t")
	for _, s := range t.Stages {
		fmt.Fprintf(table, "%s\t%s\t%s\t%.1f %%\t\n", display.Printable(s.Name), s.Pass, brief(s.ASample), 100*s.Share)
	}
	if err := table.Flush(); err != nil {
		return written(err)
	}
	for _, p := range t.Passes {
		workers := "1 worker"
		if p.Workers != 1 {
			workers = fmt.Sprintf("%d workers", p.Workers)
		}
		fmt.Fprintf(w, "%s, %s: %.0f samples a second\n", p.Pass, workers, p.Rate)
	}
	return nil
}
