package flow_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/memory"
)

// Costs are exact here: time passes only in sleeps.
const (
	napTime = 7 * time.Millisecond // of one computation
	putTime = time.Millisecond     // of storing one result
)

type nap struct{}

func init() {
	component.RegisterMapper("rest", "Takes no time, for tests.", func(*component.Env, nap) (dataset.Mapper, error) {
		return dataset.NewTransform(dataset.TransformFunc{
			Name: "rest", Code: key.Version("1"), In: []string{"metadata"}, Out: []string{"rest"},
			Func: func(context.Context, dataset.Sample) (dataset.Sample, error) {
				return dataset.NewSample(dataset.Field{Key: "rest", Item: dataset.NewItem("txt", "well")}), nil
			},
		})
	})
	component.RegisterMapper("nap", "Sleeps, for tests.", func(*component.Env, nap) (dataset.Mapper, error) {
		return dataset.NewTransform(dataset.TransformFunc{
			Name: "nap", Code: key.Version("1"), In: []string{"metadata"}, Out: []string{"rest"},
			Func: func(context.Context, dataset.Sample) (dataset.Sample, error) {
				time.Sleep(napTime)
				return dataset.NewSample(dataset.Field{Key: "rest", Item: dataset.NewItem("txt", "well")}), nil
			},
		})
	})
}

// slowStore takes putTime to store the result of a computation. Descriptions of operations
// cost more than any.
type slowStore struct{ *memory.Store }

func (s slowStore) Put(ctx context.Context, records ...store.Record) error {
	if slices.ContainsFunc(records, func(r store.Record) bool { return r.Cost > 0 && r.Cost < time.Minute && r.Link.IsZero() }) {
		time.Sleep(putTime)
	}
	return s.Store.Put(ctx, records...)
}

func TestCheckpointDecidedByCost(t *testing.T) {
	run := func(t *testing.T, nodes string) flow.NodeReport {
		f := letters(t, "  rested: {map: nap, from: letters, checkpoint: auto}\n"+nodes)
		var r *flow.Report
		synctest.Test(t, func(t *testing.T) {
			l, err := larder.Open(larder.Options{Store: slowStore{memory.New(memory.Options{})}})
			if err != nil {
				t.Fatal(err)
			}
			if r, err = f.Run(t.Context(), flow.RunOptions{Larder: l}); err != nil {
				t.Fatal(err)
			}
		})
		return node(t, r, "rested")
	}
	for _, c := range []struct {
		name, nodes, decision string
	}{
		{"read 20 times", "  many: {op: repeat, from: rested, with: {times: 20}}\n  out: {sink: underfolder, from: many, with: {path: out}}\n",
			"checkpoint auto: yes, (20-1) x 7ms computing a sample is more than (20+1) x 1ms"},
		{"read once", "  out: {sink: underfolder, from: rested, with: {path: out}}\n",
			"checkpoint auto: no, each sample is read once"},
		{"half of them read twice", "  some: {op: slice, from: rested, with: {stop: 13}}\n  one: {sink: underfolder, from: some, with: {path: one}}\n  back: {op: reverse, from: rested}\n  two: {sink: underfolder, from: back, with: {path: two}}\n",
			"checkpoint auto: yes, (1.5-1) x 7ms computing a sample is more than (1.5+1) x 1ms"},
		{"a third read twice", "  some: {op: slice, from: rested, with: {stop: 8}}\n  one: {sink: underfolder, from: some, with: {path: one}}\n  two: {sink: underfolder, from: rested, with: {path: two}}\n",
			"checkpoint auto: no, (1.31-1) x 7ms computing a sample is not more than (1.31+1) x 1ms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := run(t, c.nodes)
			if !strings.HasPrefix(n.Decision, c.decision) {
				t.Errorf("decided: %s; want %s", n.Decision, c.decision)
			}
			if yes := strings.Contains(c.decision, ": yes"); yes && n.Computed != 26 {
				t.Errorf("%d computed for a checkpoint of 26", n.Computed)
			}
		})
	}
}

func TestCacheDecidedByCost(t *testing.T) {
	run := func(t *testing.T, nodes string) flow.NodeReport {
		f := letters(t, nodes)
		var r *flow.Report
		synctest.Test(t, func(t *testing.T) {
			var err error
			if r, err = f.Run(t.Context(), flow.RunOptions{}); err != nil {
				t.Fatal(err)
			}
		})
		return node(t, r, "rested")
	}
	const rested = "  rested: {map: nap, from: letters, cache: {policy: auto, size: 26}}\n"
	for _, c := range []struct {
		name, nodes, decision string
		computed              int64
	}{
		{"read 20 times", rested + "  many: {op: repeat, from: rested, with: {times: 20}}\n  out: {sink: underfolder, from: many, with: {path: out}}\n",
			"cache auto: yes, (20-1) x 7ms computing a sample is more than (20+1) x 0s", 26},
		{"read once", rested + "  out: {sink: underfolder, from: rested, with: {path: out}}\n",
			"cache auto: no, each sample is read once", 26},
		{"cheap", "  rested: {map: rest, from: letters, cache: {policy: auto, size: 26}}\n  many: {op: repeat, from: rested, with: {times: 2}}\n  out: {sink: underfolder, from: many, with: {path: out}}\n",
			"cache auto: no, (2-1) x 0s computing a sample is not more than (2+1) x 0s", 52 + 3},
		{"not computed", "  rested: {map: rename, from: letters, with: {names: {image: picture}}, cache: {policy: auto, size: 26}}\n  many: {op: repeat, from: rested, with: {times: 2}}\n  out: {sink: underfolder, from: many, with: {path: out}}\n",
			"cache auto: yes, each sample is read 2 times", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := run(t, c.nodes)
			if !strings.HasPrefix(n.Decision, c.decision) {
				t.Errorf("decided: %s; want %s", n.Decision, c.decision)
			}
			if n.Computed != c.computed {
				t.Errorf("%d computed, want %d", n.Computed, c.computed)
			}
		})
	}
}
