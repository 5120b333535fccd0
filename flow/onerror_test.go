package flow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/pool"
	"github.com/larder-data/larder/store/memory"
)

// picky is a flow over ten numbers with a mapper that refuses some.
type picky struct {
	bad  map[int64]bool
	made atomic.Int64
	got  []int64 // what was written
}

func (p *picky) flow(t *testing.T, at flow.Options) *flow.Flow {
	t.Helper()
	b := flow.NewBuilder("picky", t.TempDir())
	source := b.Add("numbers", component.Samples(dataset.Func(10, func(_ context.Context, i int) (dataset.Sample, error) {
		return dataset.NewSample(dataset.Field{Key: "n", Item: dataset.NewItem("json", int64(i))}), nil
	})))
	m, err := dataset.NewTransform(dataset.TransformFunc{Name: "picky", Code: key.Version("1"), In: []string{"n"}, Out: []string{"twice"}, Func: func(ctx context.Context, s dataset.Sample) (dataset.Sample, error) {
		v, err := s.Value(ctx, "n")
		if err != nil {
			return dataset.Sample{}, err
		}
		if p.bad[v.(int64)] {
			return dataset.Sample{}, fmt.Errorf("%d is bad", v)
		}
		p.made.Add(1)
		return dataset.NewSample(dataset.Field{Key: "twice", Item: dataset.NewItem("json", 2*v.(int64))}), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	twice := b.Add("twice", m, source).With(at)
	b.Add("out", func(ctx context.Context, in component.Data) error {
		p.got = nil
		for i := range in.Parts[0].Len() {
			s, err := in.Parts[0].At(ctx, i)
			if err != nil {
				return err
			}
			v, err := s.Value(ctx, "twice")
			if err != nil {
				return err
			}
			p.got = append(p.got, v.(int64))
		}
		return nil
	}, twice)
	f, err := b.Flow()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestBadSamplesAreSkipped checks that a run continues without failed samples, reports
// them, computes the others once, and retries them in the next run.
func TestBadSamplesAreSkipped(t *testing.T) {
	for _, workers := range []int{1, 4} {
		p := &picky{bad: map[int64]bool{3: true, 4: true, 9: true}}
		f := p.flow(t, flow.Options{})
		s := memory.New(memory.Options{})
		run := func() (*flow.Report, error) {
			return f.Run(t.Context(), flow.RunOptions{Larder: newLarder(t, s), Pool: pool.New(workers), OnError: flow.OnError{Skip: true}})
		}
		r, err := run()
		if err != nil {
			t.Fatal(err)
		}
		if want := []int64{0, 2, 4, 10, 12, 14, 16}; !slices.Equal(p.got, want) || p.made.Load() != 7 {
			t.Errorf("written %v, want %v; %d made", p.got, want, p.made.Load())
		}
		want := []flow.Skip{{Node: "twice", Sample: 3, Error: "3 is bad"}, {Node: "twice", Sample: 4, Error: "4 is bad"}, {Node: "twice", Sample: 9, Error: "9 is bad"}}
		if n := node(t, r, "twice"); n.Skipped != 3 || n.Samples != 7 || !slices.Equal(r.Skips, want) {
			t.Errorf("%+v %+v", n, r.Skips)
		}
		var lines strings.Builder
		if err := r.WriteSkips(&lines); err != nil || strings.Count(lines.String(), "\n") != 3 || !strings.HasPrefix(lines.String(), `{"node":"twice","sample":3,"error":"3 is bad"}`) {
			t.Errorf("%v %s", err, lines.String())
		}
		p.bad = map[int64]bool{4: true}
		if r, err = run(); err != nil || len(r.Skips) != 1 || p.made.Load() != 9 || len(p.got) != 9 {
			t.Errorf("the second run: %v, %+v, %d made, %v", err, r.Skips, p.made.Load(), p.got)
		}
	}
}

// TestPlanOfBadSamples checks that a dry run predicts possible skips, before and after a
// run that skipped samples, and that the run stays within the prediction.
func TestPlanOfBadSamples(t *testing.T) {
	p := &picky{bad: map[int64]bool{3: true, 4: true}}
	f := p.flow(t, flow.Options{})
	s := memory.New(memory.Options{})
	for round, want := range []int64{10, 2} {
		o := flow.RunOptions{Larder: newLarder(t, s), Pool: pool.New(1), OnError: flow.OnError{Skip: true}}
		plan, err := f.Plan(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range plan.Nodes {
			if below := n.Name != "numbers"; n.AtMost != below {
				t.Errorf("round %d: %+v", round, n)
			}
			if n.Name == "twice" && n.Compute != want {
				t.Errorf("round %d: %+v, want %d", round, n, want)
			}
		}
		if _, err = f.Run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	p.bad = nil
	o := flow.RunOptions{Larder: newLarder(t, s), Pool: pool.New(1), OnError: flow.OnError{Skip: true}}
	if _, err := f.Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	plan, err := f.Plan(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range plan.Nodes {
		if n.AtMost || n.Compute > 0 {
			t.Errorf("when all are cached: %+v", n)
		}
	}
}

// TestSkippingIsBounded checks that more skips than allowed are an error, and so is the
// failure of all samples. Without permission one failure is an error.
func TestSkippingIsBounded(t *testing.T) {
	three := map[int64]bool{3: true, 4: true, 9: true}
	for _, c := range []struct {
		text string
		bad  map[int64]bool
		want error
	}{
		{"skip", three, nil}, {"3", three, nil}, {"30%", three, nil}, {"2", three, flow.ErrTooManySkipped}, {"29%", three, flow.ErrTooManySkipped},
		{"skip", map[int64]bool{0: true, 1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true, 9: true}, flow.ErrTooManySkipped},
	} {
		o, err := flow.ParseOnError(c.text)
		if err != nil {
			t.Fatal(err)
		}
		p := &picky{bad: c.bad}
		r, err := p.flow(t, flow.Options{OnError: &o}).Run(t.Context(), flow.RunOptions{Pool: pool.New(2)})
		if !errors.Is(err, c.want) {
			t.Errorf("%s of %d: %v, want %v", c.text, len(c.bad), err, c.want)
		}
		if c.want != nil && len(r.Skips) == 0 {
			t.Errorf("%s: the report names no sample", c.text)
		}
	}
	p := &picky{bad: three}
	fail := flow.OnError{}
	_, err := p.flow(t, flow.Options{OnError: &fail}).Run(t.Context(), flow.RunOptions{OnError: flow.OnError{Skip: true}})
	if at := (*dataset.SampleError)(nil); !errors.As(err, &at) || at.Node != "twice" {
		t.Errorf("a node that fails all the same: %v", err)
	}
	for _, wrong := range []string{"", "0", "-1", "0%", "101%", "never", "NaN%"} {
		if _, err := flow.ParseOnError(wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}

// TestOnErrorInAFile checks the ways to write it, and which nodes cannot have it.
func TestOnErrorInAFile(t *testing.T) {
	for text, want := range map[string]string{
		"skip": "", "fail": "", "{skip: 3}": "", "{skip: 5%}": "", "skipp": "on-error must be fail, skip", "{skip: x}": "on-error must be", "{most: 3}": `did you mean`, "{skip: 0}": "on-error must be",
	} {
		_, err := flow.Parse("flow.yaml", []byte("version: 1\nnodes:\n  a: {source: images, with: {path: x}, on-error: "+text+"}\n  b: {sink: jsonl, from: a, with: {path: y}}\n"), nil)
		if (err == nil) != (want == "") || err != nil && want != "did you mean" && !strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "most") {
			t.Errorf("%s: %v", text, err)
		}
	}
	_, err := flow.Parse("flow.yaml", []byte("version: 1\nnodes:\n  a: {source: images, with: {path: x}}\n  b: {op: reverse, from: a, on-error: skip}\n"), nil)
	if err == nil || !strings.Contains(err.Error(), "op reverse cannot skip samples") {
		t.Errorf("an operator: %v", err)
	}
	if _, err := flow.Parse("flow.yaml", []byte("version: 1\ndefaults: {on-error: skip}\nnodes:\n  a: {source: images, with: {path: x}}\n  b: {op: reverse, from: a}\n"), nil); err != nil {
		t.Errorf("of the defaults: %v", err)
	}
}
