package work

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/pool"

	_ "github.com/larder-data/larder/format/images" // components
	_ "github.com/larder-data/larder/format/underfolder"
	_ "github.com/larder-data/larder/mapper"
	_ "github.com/larder-data/larder/op"
)

func (j Job) workers() int {
	if strings.Contains(j.Contestant, "all processors") {
		return 0
	}
	return 1
}

func quietly() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// incremental measures each image of a directory and caches the results, then reads all
// of them.
func incremental(ctx context.Context, j Job) (_ Figures, err error) {
	content := "version: 1\nnodes:\n  photos: {source: images, with: {path: " + j.Data + "}}\n  stats: {map: image-stats, from: photos, checkpoint: true}\n"
	ready()
	begin := time.Now()
	l, err := larder.Open(larder.Options{Dir: j.Dir + "/cache", Logger: quietly()})
	if err != nil {
		return nil, err
	}
	f, err := flow.Parse(j.Dir+"/flow.yaml", []byte(content), nil)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	o := flow.RunOptions{Larder: l, Pool: pool.New(j.workers()), Log: quietly()}
	report, err := f.Run(ctx, o)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	if err := readStats(ctx, f, o); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	if err := l.Close(); err != nil {
		return nil, err
	}
	took := seconds(begin)
	for _, n := range report.Nodes {
		if n.Name == "stats" {
			return Figures{j.Phase: took, j.Phase + "_executions": float64(n.Computed)}, nil
		}
	}
	return nil, errors.New("the report has no node stats")
}

func readStats(ctx context.Context, f *flow.Flow, o flow.RunOptions) error {
	d, err := f.Open(ctx, "stats", o)
	if err != nil {
		return err
	}
	for s, err := range dataset.All(ctx, d.Parts[0]) {
		if err != nil {
			return err
		}
		if _, err := s.Value(ctx, "stats"); err != nil {
			return err
		}
	}
	return nil
}

// letters runs the flow of examples/letters, in a running process or as a command.
func letters(ctx context.Context, j Job) (Figures, error) {
	if err := os.CopyFS(j.Dir+"/flow", os.DirFS(j.Data)); err != nil && j.Phase == "cold" {
		return nil, err
	}
	file := j.Dir + "/flow/flow.yaml"
	if strings.HasPrefix(j.Contestant, "larder run") {
		ready()
		begin := time.Now()
		c := exec.CommandContext(ctx, os.Getenv("LARDER_BENCH_COMMAND"), "run", "--progress", "none", "--report", j.Dir+"/report.json", file)
		c.Env = append(os.Environ(), "LARDER_CACHE="+j.Dir+"/cache")
		out, err := c.CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("%w: %s", err, out)
		}
		took := seconds(begin)
		content, err := os.ReadFile(j.Dir + "/report.json")
		if err != nil {
			return nil, err
		}
		var r flow.Report
		err = json.Unmarshal(content, &r)
		return lettersFigures(j, took, &r), err
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	ready()
	begin := time.Now()
	l, err := larder.Open(larder.Options{Dir: j.Dir + "/cache", Logger: quietly()})
	if err != nil {
		return nil, err
	}
	f, err := flow.Parse(file, content, nil)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	r, err := f.Run(ctx, flow.RunOptions{Larder: l, Log: quietly()})
	if err := errors.Join(err, l.Close()); err != nil {
		return nil, err
	}
	return lettersFigures(j, seconds(begin), r), nil
}

func lettersFigures(j Job, took float64, r *flow.Report) Figures {
	var computed float64
	for _, n := range r.Nodes {
		if n.Name == "stats" {
			computed += float64(n.Computed)
		}
	}
	return Figures{j.Phase: took, j.Phase + "_executions": computed}
}

// samples computes and caches an item of each of many samples in one process, and reads
// all of them in the next.
func samples(ctx context.Context, j Job) (_ Figures, err error) {
	l, err := larder.Open(larder.Options{Dir: j.Dir + "/cache", Logger: quietly()})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	m, err := dataset.NewTransform(dataset.TransformFunc{
		Name: "double", Code: key.Version("1"), In: []string{"n"}, Out: []string{"twice"},
		Func: func(ctx context.Context, s dataset.Sample) (dataset.Sample, error) {
			executions++
			v, err := s.Value(ctx, "n")
			if err != nil {
				return dataset.Sample{}, err
			}
			n, ok := v.(map[string]any)["n"].(int64)
			if !ok {
				return dataset.Sample{}, fmt.Errorf("n is a %T", v.(map[string]any)["n"])
			}
			return dataset.NewSample(dataset.Field{Key: "twice", Item: dataset.NewItem("json", map[string]any{"n": 2 * n})}), nil
		},
	})
	if err != nil {
		return nil, err
	}
	source := dataset.Func(j.N, func(_ context.Context, i int) (dataset.Sample, error) {
		return dataset.NewSample(dataset.Field{Key: "n", Item: dataset.NewItem("json", map[string]any{"n": int64(i)})}), nil
	})
	ds := dataset.Map(source, m, dataset.MapOptions{Larder: l, Keep: true})
	ready()
	begin := time.Now()
	for s, err := range dataset.All(ctx, ds) {
		if err != nil {
			return nil, err
		}
		if _, err := s.Value(ctx, "twice"); err != nil {
			return nil, err
		}
	}
	f := Figures{j.Phase: seconds(begin), j.Phase + "_executions": executions}
	f[j.Phase+"_anon"], _ = rss()
	return f, nil
}
