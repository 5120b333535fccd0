package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/fs/cleanup"
	"github.com/larder-data/larder/internal/text/display"
)

type timeitFlags struct {
	in      string
	set     variables
	runs    int
	samples int
	loader  bool
	batch   int
	json    bool
}

func (a *app) timeitCommand() *cobra.Command {
	var f timeitFlags
	c := &cobra.Command{
		Use:   "timeit FLOW NODE | timeit -i [FORMAT:]PATH[,k=v]...",
		Short: "Measure the time that samples take",
		Long: `Reads samples of a node of a flow, or of a dataset, one after another with all
their items decoded, and shows how long each sample and each item took. Opening
the node comes first: it lists sources, applies operators and computes
checkpoints.

The first pass is cold: it starts with an empty cache, which is removed at the
end. Later passes are warm: results of the node are cached on disk or in memory.
With --cache DIR the existing cache is used, so the first pass may be warm too.
The system may hold copies of files in memory.

With --loader it computes batches, as for a training job. One worker measures each
stage separately (finding samples, reading files, decoding, each mapper, lookups,
collating), then all workers measure the throughput.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 && f.in == "" || len(args) > 0 && f.in != "" {
				return errors.New("give either a flow file and a node, or a dataset by -i")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if f.runs < 1 || f.samples < 1 || f.batch < 1 {
				return usageError{errors.New("--runs, --samples and --batch-size must be at least 1")}
			}
			if f.in != "" {
				args = []string{f.in}
			}
			fl, node, err := a.sourceOrFlow(args, f.set)
			if err != nil {
				return usageError{err}
			}
			return a.timeit(c.Context(), fl, node, f)
		},
	}
	c.Flags().StringVarP(&f.in, "input", "i", "", "the `dataset` to read: [FORMAT:]PATH[,k=v]...")
	f.set.flags(c)
	c.Flags().IntVar(&f.runs, "runs", 3, "number of passes over the samples; the first is cold")
	c.Flags().IntVar(&f.samples, "samples", 1000, "number of samples in a pass")
	c.Flags().BoolVar(&f.loader, "loader", false, "measure the stages of batches")
	c.Flags().IntVar(&f.batch, "batch-size", 32, "samples of a batch, with --loader")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

func (a *app) timeit(ctx context.Context, fl *flow.Flow, node string, f timeitFlags) error {
	if a.cache == "" {
		dir, err := os.MkdirTemp("", "larder-timeit-")
		if err != nil {
			return failure{fmt.Errorf("%w; temporary files are in the directory TMPDIR", err)}
		}
		remain := cleanup.Add(func() error { return os.RemoveAll(dir) })
		defer func() {
			_ = os.RemoveAll(dir) // it is a temporary directory
			remain.Done()
		}()
		a.cache = dir
	}
	if _, err := a.reading(ctx, fl, f.set); err != nil {
		return err
	}
	var timings []*timing
	var stages *loaderTimes
	err := a.withLarder(larder.Options{}, func(l *larder.Larder) (err error) {
		o := flow.RunOptions{Larder: l, Log: a.logger()}
		if f.loader {
			stages, err = f.measureLoader(ctx, fl, node, o)
		} else {
			timings, err = f.measure(ctx, fl, node, o)
		}
		return flowError(err)
	})
	switch {
	case err != nil:
		return err
	case f.loader && f.json:
		return writeJSON(a.stdout, stages)
	case f.loader:
		return stages.write(a.stdout)
	case f.json:
		return writeJSON(a.stdout, timings)
	}
	return writeTimings(a.stdout, timings)
}

func (f timeitFlags) measure(ctx context.Context, fl *flow.Flow, node string, o flow.RunOptions) ([]*timing, error) {
	cold, warm := &pass{Name: "cold"}, &pass{Name: "warm"}
	start := time.Now()
	data, err := fl.Open(ctx, node, o)
	if err != nil {
		return nil, err
	}
	cold.of("opening").add(start)
	for i := range f.runs {
		p := warm
		if i == 0 {
			p = cold
		}
		if err := p.read(ctx, data.Parts, f.samples); err != nil {
			return nil, err
		}
	}
	var all []*timing
	for _, c := range cold.timings {
		all = append(all, c)
		if i := warm.find(c.What); i >= 0 {
			all = append(all, warm.timings[i])
		}
	}
	for _, t := range all {
		t.sum()
	}
	return all, nil
}

// pass is the time of one or several passes over the samples.
type pass struct {
	Name    string
	timings []*timing // of the samples, then of each item
}

type timing struct {
	What   string  `json:"what"` // opening, sample, or an item
	Pass   string  `json:"pass"` // cold or warm
	Count  int     `json:"count"`
	Rate   float64 `json:"per_second"`
	Median float64 `json:"median_seconds"`
	P95    float64 `json:"p95_seconds"`

	times []time.Duration
}

// read reads the first samples of the parts once.
func (p *pass) read(ctx context.Context, parts []component.Samples, limit int) error {
	for _, part := range parts {
		for i := range min(part.Len(), limit) {
			start := time.Now()
			s, err := part.At(ctx, i)
			if err != nil {
				return fmt.Errorf("sample %d: %w", i, err)
			}
			samples := p.of("sample")
			for field := range s.Fields() {
				start := time.Now()
				if _, err := field.Item.Value(ctx); err != nil {
					return fmt.Errorf("sample %d, item %s: %w", i, display.Name(field.Key), err)
				}
				p.of("item " + field.Key).add(start)
			}
			samples.add(start)
		}
		limit -= min(part.Len(), limit)
	}
	return nil
}

// of returns the timing of one operation.
func (p *pass) of(what string) *timing {
	i := p.find(what)
	if i < 0 {
		i = len(p.timings)
		p.timings = append(p.timings, &timing{What: what, Pass: p.Name})
	}
	return p.timings[i]
}

func (p *pass) find(what string) int {
	return slices.IndexFunc(p.timings, func(t *timing) bool { return t.What == what })
}

func (t *timing) add(start time.Time) { t.times = append(t.times, time.Since(start)) }

func (t *timing) sum() {
	slices.Sort(t.times)
	t.Count = len(t.times)
	t.Median, t.P95 = t.percentile(50), t.percentile(95)
	var total time.Duration
	for _, d := range t.times {
		total += d
	}
	if total > 0 {
		t.Rate = float64(t.Count) / total.Seconds()
	}
}

func (t *timing) percentile(p float64) float64 {
	n := int(math.Ceil(p / 100 * float64(len(t.times))))
	return t.times[max(n, 1)-1].Seconds()
}

func writeTimings(w io.Writer, all []*timing) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "what\tpass\tcount\ta second\tmedian\t95 %\t")
	for _, one := range all {
		fmt.Fprintf(t, "%s\t%s\t%d\t%.0f\t%s\t%s\t\n", one.What, one.Pass, one.Count, one.Rate, brief(one.Median), brief(one.P95))
	}
	return written(t.Flush())
}
