package dataset_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
)

// join returns a transform that joins strings with its name and counts its executions.
func join(t testing.TB, name string, runs *atomic.Int64, into string, from ...string) dataset.Transform {
	t.Helper()
	m, err := dataset.NewTransform(dataset.TransformFunc{
		Name: name, Code: key.Version("1"), Params: []key.Param{{Name: "into", Value: into}},
		In: from, Out: []string{into},
		Func: func(ctx context.Context, s dataset.Sample) (dataset.Sample, error) {
			runs.Add(1)
			text := name
			for _, k := range from {
				v, err := s.Value(ctx, k)
				if err != nil {
					return dataset.Sample{}, err
				}
				text += fmt.Sprintf("(%v)", v)
			}
			return s.WithItem(into, dataset.NewItem("txt", text)), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func drop(keys ...string) dataset.Mapper {
	return dataset.MapperFunc(func(_ context.Context, s dataset.Sample) (dataset.Sample, error) { return s.Without(keys...), nil })
}

func compose(t testing.TB, steps ...dataset.Mapper) dataset.Mapper {
	t.Helper()
	m, err := dataset.Compose(steps...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestComposeIsOneExecution(t *testing.T) {
	var f, g, unused atomic.Int64
	var stats dataset.NodeStats
	l, reopen := newLarder(t)
	steps := func() dataset.Mapper {
		return compose(t, join(t, "unused", &unused, "x", "a"), join(t, "f", &f, "tmp", "a"),
			compose(t, rename(t, "tmp", "b"), join(t, "g", &g, "c", "b", "b")), drop("b", "x"))
	}
	ds := dataset.Map(texts(3, "a"), steps(), dataset.MapOptions{Larder: l, Keep: true, Stats: &stats})
	s, err := ds.At(t.Context(), 0)
	if err != nil || !slices.Equal(s.Keys(), []string{"a", "c"}) {
		t.Fatalf("%q, %v", s.Keys(), err)
	}
	if f.Load() != 0 || len(s.Executions()) != 1 {
		t.Errorf("%d executions before anything was requested, of %d makings", f.Load(), len(s.Executions()))
	}
	want := []string{"g(f(a0))(f(a0))", "g(f(a1))(f(a1))", "g(f(a2))(f(a2))"}
	for range 2 {
		if got := values(t, ds, "c"); !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
		ds = dataset.Map(texts(3, "a"), steps(), dataset.MapOptions{Larder: reopen(), Keep: true, Stats: &stats})
	}
	if f.Load() != 3 || g.Load() != 3 || unused.Load() != 0 || stats.Computed.Load() != 3 || stats.FromStore.Load() != 3 {
		t.Errorf("%d and %d executions, %d of what is dropped; counted %d and %d cached", f.Load(), g.Load(), unused.Load(), stats.Computed.Load(), stats.FromStore.Load())
	}
}

// TestComposeIsNamedByWhatItDoes checks that steps without effect on the remaining items do
// not change the key, and others do.
func TestComposeIsNamedByWhatItDoes(t *testing.T) {
	var n atomic.Int64
	action := func(steps ...dataset.Mapper) string {
		s, err := dataset.Map(texts(1, "a", "b"), compose(t, steps...), dataset.MapOptions{}).At(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		it, err := s.Item("c")
		if err != nil {
			t.Fatal(err)
		}
		e, ok := dataset.ExecutionOf(it)
		if !ok {
			t.Fatal("the item is not made")
		}
		a, err := e.Action(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return a.Key().String()
	}
	f := join(t, "f", &n, "c", "a")
	base := action(f)
	for what, k := range map[string]string{
		"an item more that is dropped": action(join(t, "g", &n, "d", "b"), f, drop("d")),
		"a name and back":              action(rename(t, "b", "z"), f, rename(t, "z", "b")),
		"dropping what is not read":    action(f, drop("b")),
	} {
		if k != base {
			t.Errorf("%s changes the key", what)
		}
	}
	for what, k := range map[string]string{
		"another step":       action(join(t, "g", &n, "c", "a")),
		"another item":       action(drop("a"), rename(t, "b", "a"), f),
		"an item more":       action(f, join(t, "g", &n, "d", "b")),
		"another name":       action(join(t, "f", &n, "d", "a"), rename(t, "d", "c")),
		"a step before":      action(join(t, "f", &n, "a", "a"), f),
		"two items, swapped": action(join(t, "f", &n, "c", "a", "b")),
	} {
		if k == base {
			t.Errorf("%s does not change the key", what)
		}
	}
}

func TestComposeReadsTwoItemsUnderOneName(t *testing.T) {
	var n atomic.Int64
	l, _ := newLarder(t)
	steps := compose(t, join(t, "f", &n, "x", "a"), drop("a"), rename(t, "b", "a"), join(t, "g", &n, "y", "a", "x"))
	ds := dataset.Map(texts(2, "a", "b"), steps, dataset.MapOptions{Larder: l, Keep: true})
	if got := values(t, ds, "y"); !slices.Equal(got, []string{"g(b0)(f(a0))", "g(b1)(f(a1))"}) {
		t.Errorf("%q", got)
	}
}

// TestComposePassesOn checks that bytes that no step made are not stored.
func TestComposePassesOn(t *testing.T) {
	m, err := dataset.NewTransform(dataset.TransformFunc{
		Name: "pass", Code: key.Version("1"), In: []string{"a"}, Out: []string{"b"},
		Func: func(_ context.Context, s dataset.Sample) (dataset.Sample, error) {
			it, err := s.Item("a")
			return dataset.NewSample(dataset.Field{Key: "b", Item: it}), err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var stats dataset.NodeStats
	l, _ := newLarder(t)
	big := dataset.NewBytes("bin", make([]byte, 1<<20))
	ds := dataset.Map(dataset.List(dataset.NewSample(dataset.Field{Key: "a", Item: big})), compose(t, m, rename(t, "b", "c")), dataset.MapOptions{Larder: l, Keep: true, Stats: &stats})
	s, err := ds.At(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := s.Value(t.Context(), "c"); err != nil || len(v.([]byte)) != 1<<20 || stats.BytesWritten.Load() > 1000 {
		t.Errorf("%v; %d bytes were stored", err, stats.BytesWritten.Load())
	}
}

func TestComposeErrors(t *testing.T) {
	var n atomic.Int64
	var stats dataset.NodeStats
	fail, err := dataset.NewTransform(dataset.TransformFunc{
		Name: "fail", Code: key.Version("1"), In: []string{"a"}, Out: []string{"b"},
		Func: func(context.Context, dataset.Sample) (dataset.Sample, error) {
			return dataset.Sample{}, fmt.Errorf("boom")
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ds := dataset.Map(texts(2, "a"), compose(t, fail, join(t, "f", &n, "c", "b")), dataset.MapOptions{Node: "n", Stats: &stats})
	s, err := ds.At(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Value(t.Context(), "c")
	if err == nil || strings.Count(err.Error(), "sample 1") != 1 || !strings.Contains(err.Error(), "boom") || stats.Failed.Load() != 1 {
		t.Errorf("%d failures, the error is %v", stats.Failed.Load(), err)
	}
	ds = dataset.Map(texts(2, "a"), compose(t, join(t, "f", &n, "c", "z")), dataset.MapOptions{Node: "n"})
	if _, err := ds.At(t.Context(), 1); err == nil || err.Error() != `node n: sample 1: item "z" not found; the sample has a` {
		t.Errorf("the error is %v", err)
	}
}

func TestComposeOfRandomSteps(t *testing.T) {
	var runs atomic.Int64
	_, reopen := newLarder(t)
	for _, per := range []dataset.Per{dataset.PerPosition, dataset.PerContent} {
		d := dice(t, "dice", "1", dataset.Random{Per: per}, &runs)
		alone := drawn(t, texts(4, "a"), d, dataset.MapOptions{})
		composed := compose(t, d, rename(t, "n", "x"), rename(t, "x", "n"))
		if composed.(dataset.Transform).Random() == nil {
			t.Error("a random step does not make the whole random")
		}
		runs.Store(0)
		for range 2 {
			got := drawn(t, texts(4, "a"), composed, dataset.MapOptions{Larder: reopen(), Keep: true})
			if diff := cmp.Diff(alone, got); diff != "" {
				t.Errorf("per %s, other draws than alone:\n%s", per, diff)
			}
		}
		if runs.Load() != 4 {
			t.Errorf("%d executions of 4", runs.Load())
		}
	}
}

// TestComposeOfOpenTransform checks a step whose items are known only after it has run.
func TestComposeOfOpenTransform(t *testing.T) {
	var runs, n atomic.Int64
	open, err := dataset.NewTransform(dataset.TransformFunc{
		Name: "open", Code: key.Version("1"),
		Func: func(_ context.Context, s dataset.Sample) (dataset.Sample, error) {
			runs.Add(1)
			return s.WithItem("new", dataset.NewItem("txt", "made")), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	l, reopen := newLarder(t)
	m := compose(t, open, join(t, "f", &n, "c", "new"))
	if m.(dataset.Transform).Makes() != nil {
		t.Error("what it makes is said to be known")
	}
	for range 2 {
		ds := dataset.Map(texts(2, "a"), m, dataset.MapOptions{Larder: l, Keep: true})
		if got := values(t, ds, "c"); !slices.Equal(got, []string{"f(made)", "f(made)"}) {
			t.Errorf("%q", got)
		}
		l = reopen()
	}
	if runs.Load() != 2 || n.Load() != 2 {
		t.Errorf("%d and %d executions over two runs, want 2 and 2", runs.Load(), n.Load())
	}
}

func TestComposeOfNamesOnly(t *testing.T) {
	m := compose(t, rename(t, "a", "c"), drop("b"))
	if _, ok := m.(dataset.Transform); ok {
		t.Error("moving names is said to compute")
	}
	s, err := dataset.Map(texts(1, "a", "b"), m, dataset.MapOptions{}).At(t.Context(), 0)
	if err != nil || !slices.Equal(s.Keys(), []string{"c"}) {
		t.Errorf("%q, %v", s.Keys(), err)
	}
	s, err = dataset.Map(texts(1, "a"), compose(t), dataset.MapOptions{}).At(t.Context(), 0)
	if err != nil || !slices.Equal(s.Keys(), []string{"a"}) {
		t.Errorf("no steps: %q, %v", s.Keys(), err)
	}
}
