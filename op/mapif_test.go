package op_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/op"
	"github.com/larder-data/larder/store/memory"
)

// runs counts the runs of the mapper test-double.
var runs atomic.Int64

func init() {
	component.RegisterMapper("test-double", "Makes an item with twice the number of the sample.",
		func(*component.Env, double) (dataset.Mapper, error) { return newDouble() })
}

type double struct{}

func newDouble() (dataset.Transform, error) {
	return dataset.NewTransform(dataset.TransformFunc{
		Name: "test-double", Code: key.Version("1"), In: []string{"meta"}, Out: []string{"double"},
		Func: func(ctx context.Context, s dataset.Sample) (dataset.Sample, error) {
			runs.Add(1)
			v, err := s.Value(ctx, "meta")
			if err != nil {
				return s, err
			}
			n := v.(map[string]any)["n"].(int64)
			return dataset.NewSample(dataset.Field{Key: "double", Item: dataset.NewItem("json", 2*n)}), nil
		},
	})
}

func doubling(t *testing.T) component.Step {
	t.Helper()
	c, err := component.Find(component.Map, "test-double")
	if err != nil {
		t.Fatal(err)
	}
	return component.Step{Component: c, Params: double{}}
}

// changed lists the positions of the samples that a mapper changed.
func changed(t *testing.T, ds component.Samples) []int {
	t.Helper()
	var got []int
	for i := range ds.Len() {
		s, err := ds.At(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := s.Field("double"); !ok {
			continue
		}
		got = append(got, i)
		if v, err := s.Value(t.Context(), "double"); err != nil || v != int64(2*i) {
			t.Errorf("sample %d has %v, %v", i, v, err)
		}
	}
	return got
}

func share(p float64) *float64 { return &p }

func TestMapIf(t *testing.T) {
	for _, c := range []struct {
		mapIf op.MapIf
		want  []int
	}{
		{op.MapIf{Where: "meta.n % 3 == 0"}, []int{0, 3, 6, 9}},
		{op.MapIf{Where: "false"}, nil},
		{op.MapIf{Range: "2:5"}, []int{2, 3, 4}},
		{op.MapIf{Range: ":0"}, nil},
		{op.MapIf{Range: "-2:"}, []int{8, 9}},
		{op.MapIf{Range: "::-4"}, []int{1, 5, 9}},
		{op.MapIf{Range: "8:30"}, []int{8, 9}},
		{op.MapIf{Range: "2:8", Where: "meta.n % 3 == 0"}, []int{3, 6}},
		{op.MapIf{Probability: share(0)}, nil},
		{op.MapIf{Probability: share(1)}, span(0, 10)},
		{op.MapIf{Probability: share(1), Range: "1:3"}, []int{1, 2}},
	} {
		c.mapIf.Step = doubling(t)
		if err := c.mapIf.Check(); err != nil {
			t.Errorf("%+v: %v", c.mapIf, err)
		}
		ds := apply(t, "map-if", c.mapIf, numbers(10)).Parts[0]
		if got := changed(t, ds); !slices.Equal(got, c.want) || ds.Len() != 10 {
			t.Errorf("%+v changed %v of %d, want %v of 10", c.mapIf, got, ds.Len(), c.want)
		}
	}
}

func TestMapIfByRandomness(t *testing.T) {
	draw := func(p float64, seed, epoch int) []int {
		return changed(t, apply(t, "map-if", op.MapIf{Step: doubling(t), Probability: &p, Seed: seed, Epoch: epoch}, numbers(1000)).Parts[0])
	}
	got := draw(0.3, 1, 0)
	if len(got) < 250 || len(got) > 350 {
		t.Errorf("%d of 1000 samples were changed, want about 300", len(got))
	}
	if !slices.Equal(got, draw(0.3, 1, 0)) || slices.Equal(got, draw(0.3, 2, 0)) || slices.Equal(got, draw(0.3, 1, 1)) {
		t.Error("what is changed is not a function of seed and epoch")
	}
	// A greater share changes the same samples and others.
	more := draw(0.6, 1, 0)
	for _, i := range got {
		if !slices.Contains(more, i) {
			t.Errorf("sample %d is no longer changed", i)
		}
	}
}

// TestMapIfIsLazy checks that nothing runs before it is requested, and that each sample is
// read once for the condition and the mapper.
func TestMapIfIsLazy(t *testing.T) {
	var reads atomic.Int64
	in := dataset.Func(4, func(ctx context.Context, i int) (dataset.Sample, error) {
		reads.Add(1)
		return numbers(4).At(ctx, i)
	})
	runs.Store(0)
	ds := apply(t, "map-if", op.MapIf{Step: doubling(t), Where: "meta.n > 1"}, in).Parts[0]
	if reads.Load() != 0 {
		t.Errorf("%d samples were read to build it", reads.Load())
	}
	if got := changed(t, ds); !slices.Equal(got, []int{2, 3}) || reads.Load() != 4 || runs.Load() != 2 {
		t.Errorf("changed %v with %d reads and %d runs, want 4 and 2", got, reads.Load(), runs.Load())
	}
}

func TestMapIfNamesTheSample(t *testing.T) {
	for where, says := range map[string]string{"meta.n": "sample 1: expression meta.n: is 1", "nothing == 1": `sample 1: item "nothing" not found`} {
		ds := apply(t, "map-if", op.MapIf{Step: doubling(t), Where: where}, numbers(3)).Parts[0]
		if _, err := ds.At(t.Context(), 1); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: the error is %v, want %q", where, err, says)
		}
	}
}

// numbersFlow returns a flow with the given nodes over a directory of ten documents {n: i}.
func numbersFlow(t *testing.T, nodes string) *flow.Flow {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "in", "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		if err := os.WriteFile(filepath.Join(dir, "in", "data", fmt.Sprintf("%d_meta.json", i)), fmt.Appendf(nil, `{"n": %d}`, i), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := flow.Parse(filepath.Join(dir, "flow.yaml"), []byte("version: 1\nnodes:\n  in: {source: underfolder, with: {path: in}}\n"+nodes), nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestMapIfKeeps checks that results of the mapper, and only they, are cached across runs
// as for a mapper node.
func TestMapIfKeeps(t *testing.T) {
	for _, option := range []string{"keep: true", "checkpoint: true"} {
		f := numbersFlow(t, `
  some: {op: map-if, from: in, with: {step: {map: test-double}, range: "::2"}, `+option+`}
  out: {sink: underfolder, from: some, with: {path: out, overwrite: replace}}
`)
		l, err := larder.Open(larder.Options{Store: memory.New(memory.Options{})})
		if err != nil {
			t.Fatal(err)
		}
		runs.Store(0)
		for run := range 2 {
			r, err := f.Run(t.Context(), flow.RunOptions{Larder: l})
			if err != nil {
				t.Fatal(err)
			}
			some := r.Nodes[1]
			if want := int64(5 * (1 - run)); some.Computed != want || some.FromMemory+some.FromStore != 5-want || some.Samples != 10 {
				t.Errorf("%s, run %d: %+v", option, run, some)
			}
		}
		if runs.Load() != 5 {
			t.Errorf("%s: the mapper ran %d times, want 5", option, runs.Load())
		}
		plan, err := f.Plan(t.Context(), flow.RunOptions{Larder: l})
		if err != nil || plan.Nodes[1].Cached != 5 || plan.Nodes[1].Compute != 0 {
			t.Errorf("%s: the plan is %+v, %v", option, plan, err)
		}
		b, err := os.ReadFile(filepath.Join(f.Dir, "out", "data", "4_double.json"))
		if err != nil || strings.TrimSpace(string(b)) != "8" {
			t.Errorf("%s: sample 4 has %q, %v", option, b, err)
		}
		if _, err := os.Stat(filepath.Join(f.Dir, "out", "data", "5_double.json")); err == nil {
			t.Errorf("%s: sample 5 was changed", option)
		}
	}
}

// TestCacheOfMapIf checks that a cache around a map_if computes each sample once.
func TestCacheOfMapIf(t *testing.T) {
	f := numbersFlow(t, `
  some: {op: map-if, from: in, with: {step: {map: test-double}, where: meta.n < 3}, cache: {policy: memo}}
  many: {op: repeat, from: some, with: {times: 2.5}}
  out: {sink: underfolder, from: many, with: {path: out}}
`)
	runs.Store(0)
	if _, err := f.Run(t.Context(), flow.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	if runs.Load() != 3 {
		t.Errorf("the mapper ran %d times, want 3", runs.Load())
	}
}

// TestPartsAreJoinedInAFlow checks that a joining node reads all outputs of a node.
func TestPartsAreJoinedInAFlow(t *testing.T) {
	f := numbersFlow(t, `
  parts: {op: split, from: in, with: {sizes: {a: 0.3, b: null}}}
  some: {op: map-if, from: parts, with: {step: {map: test-double}, range: 0:1}}
  all: {op: cat, from: some}
  turns: {op: interleave, from: [some.b, some.a], with: {until: shortest}}
`)
	for node, want := range map[string][]int{"all": span(0, 10), "turns": {3, 0, 4, 1, 5, 2}} {
		d, err := f.Open(t.Context(), node, flow.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := contents(t, d.Parts[0]); !slices.Equal(got, want) {
			t.Errorf("%s has %v, want %v", node, got, want)
		}
	}
	d, err := f.Open(t.Context(), "all", flow.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := d.Parts[0].At(t.Context(), 3); err != nil || !slices.Contains(s.Keys(), "double") {
		t.Errorf("the first sample of the second part has %q, %v", s.Keys(), err)
	}
}

// TestFullPassesAreCached checks that the next run does not evaluate an expression over all
// samples again.
func TestFullPassesAreCached(t *testing.T) {
	f := numbersFlow(t, `
  drawn: {op: weighted-sample, from: in, with: {n: 20, weight: 'meta.n == 3 ? 1.5 : 0'}}
  selected: {op: filter, from: drawn, with: {where: meta.n == 3, keep-length: true}}
`)
	l, err := larder.Open(larder.Options{Store: memory.New(memory.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	for run, want := range []int64{10, 0} {
		r, err := f.Run(t.Context(), flow.RunOptions{Larder: l, Only: []string{"selected"}})
		if err != nil {
			t.Fatal(err)
		}
		if drawn := r.Nodes[1]; drawn.Computed != want || drawn.Samples != 20 {
			t.Errorf("run %d: %+v", run, drawn)
		}
	}
	d, err := f.Open(t.Context(), "selected", flow.RunOptions{Larder: l})
	if err != nil {
		t.Fatal(err)
	}
	if got := contents(t, d.Parts[0]); !slices.Equal(got, slices.Repeat([]int{3}, 20)) {
		t.Errorf("drawn were %v", got)
	}
}
