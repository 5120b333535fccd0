package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/cache"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/proc/singleflight"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store/memory"
)

// newLarder returns a Larder over a store in memory. The function opens another one over
// the same store, as another run would.
func newLarder(t testing.TB) (*larder.Larder, func() *larder.Larder) {
	t.Helper()
	s := memory.New(memory.Options{})
	open := func() *larder.Larder {
		l, err := larder.Open(larder.Options{Store: s})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	return open(), open
}

// texts returns a dataset of samples with the given items of strings, the same in each.
func texts(n int, keys ...string) dataset.Dataset[dataset.Sample] {
	return dataset.Func(n, func(_ context.Context, i int) (dataset.Sample, error) {
		var s dataset.Sample
		for _, k := range keys {
			s = s.WithItem(k, dataset.NewItem("txt", fmt.Sprint(k, i)))
		}
		return s, nil
	})
}

// upper returns a transform that makes one item from another and counts its executions.
func upper(t testing.TB, from, into string, runs *atomic.Int64) dataset.Transform {
	t.Helper()
	m, err := dataset.NewTransform(dataset.TransformFunc{
		Name: "upper", Code: key.Version("1"), Params: []key.Param{{Name: "into", Value: into}},
		In: []string{from}, Out: []string{into},
		Func: func(ctx context.Context, s dataset.Sample) (dataset.Sample, error) {
			runs.Add(1)
			v, err := s.Value(ctx, from)
			if err != nil {
				return dataset.Sample{}, err
			}
			return s.WithItem(into, dataset.NewItem("txt", strings.ToUpper(v.(string)))), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func values(t testing.TB, ds dataset.Dataset[dataset.Sample], item string) []string {
	t.Helper()
	var all []string
	for s, err := range dataset.All(t.Context(), ds) {
		if err != nil {
			t.Fatal(err)
		}
		v, err := s.Value(t.Context(), item)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v.(string))
	}
	return all
}

func TestMapRunsWhenItsItemIsRead(t *testing.T) {
	var runs atomic.Int64
	ds := dataset.Map(texts(3, "a", "b"), upper(t, "a", "c", &runs), dataset.MapOptions{})
	if got := values(t, ds, "b"); !slices.Equal(got, []string{"b0", "b1", "b2"}) {
		t.Errorf("b is %q", got)
	}
	if runs.Load() != 0 {
		t.Errorf("%d executions though nothing that is made was read", runs.Load())
	}
	if got := values(t, ds, "c"); !slices.Equal(got, []string{"A0", "A1", "A2"}) {
		t.Errorf("c is %q", got)
	}
	if runs.Load() != 3 {
		t.Errorf("%d executions, want 3", runs.Load())
	}
}

func TestCachedResultsDependOnWhatIsRead(t *testing.T) {
	var runs atomic.Int64
	l, reopen := newLarder(t)
	build := func(l *larder.Larder, keys ...string) dataset.Dataset[dataset.Sample] {
		return dataset.Map(texts(3, keys...), upper(t, "a", "c", &runs), dataset.MapOptions{Larder: l, Keep: true})
	}
	values(t, build(l, "a", "b"), "c")
	values(t, build(reopen(), "a", "b"), "c")
	values(t, build(reopen(), "x", "a"), "c") // other items do not matter
	if runs.Load() != 3 {
		t.Errorf("%d executions over three runs, want 3", runs.Load())
	}
	s, err := build(reopen(), "x", "a").At(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Keys(); !slices.Equal(got, []string{"x", "a", "c"}) {
		t.Errorf("the sample has %q: what was passed on must come from where it is now", got)
	}
}

func TestMapChainReadsOneRecordWhenWarm(t *testing.T) {
	var first, second atomic.Int64
	l, reopen := newLarder(t)
	build := func(l *larder.Larder) dataset.Dataset[dataset.Sample] {
		one := dataset.Map(texts(3, "a"), upper(t, "a", "b", &first), dataset.MapOptions{Larder: l, Keep: true})
		return dataset.Map(one, upper(t, "b", "c", &second), dataset.MapOptions{Larder: l, Keep: true})
	}
	cold := values(t, build(l), "c")
	l = reopen()
	if warm := values(t, build(l), "c"); !slices.Equal(warm, cold) {
		t.Errorf("warm %q, cold %q", warm, cold)
	}
	if first.Load() != 3 || second.Load() != 3 {
		t.Errorf("%d and %d executions, want 3 and 3", first.Load(), second.Load())
	}
	if m := l.Metrics(); m.StoreHits != 3 {
		t.Errorf("%d records decoded for 3 warm results: the ancestors were read as well", m.StoreHits)
	}
}

func TestKeepingKeepsWhatWasNotCached(t *testing.T) {
	var runs atomic.Int64
	l, reopen := newLarder(t)
	build := func(l *larder.Larder) dataset.Dataset[dataset.Sample] {
		return dataset.WithCaching(dataset.Map(texts(3, "a"), upper(t, "a", "c", &runs), dataset.MapOptions{Larder: l}))
	}
	values(t, build(l), "c")
	values(t, build(reopen()), "c")
	if runs.Load() != 3 {
		t.Errorf("%d executions, want 3", runs.Load())
	}
}

func TestMapErrors(t *testing.T) {
	boom := errors.New("boom")
	var runs atomic.Int64
	for _, c := range []struct {
		name string
		f    func() (dataset.Sample, error)
		want func(error) bool
	}{
		{"an error", func() (dataset.Sample, error) { return dataset.Sample{}, boom }, func(err error) bool { return errors.Is(err, boom) }},
		{"a panic", func() (dataset.Sample, error) { panic("boom") }, func(err error) bool {
			var p *singleflight.PanicError
			return errors.As(err, &p) && strings.Contains(err.Error(), "boom")
		}},
		{"an item missing", func() (dataset.Sample, error) { return dataset.NewSample(), nil }, func(err error) bool { return strings.Contains(err.Error(), "did not return item c") }},
		{"an item too many", func() (dataset.Sample, error) {
			it := dataset.NewItem("txt", "x")
			return dataset.NewSample(dataset.Field{Key: "c", Item: it}, dataset.Field{Key: "d", Item: it}), nil
		}, func(err error) bool { return strings.Contains(err.Error(), "returned item d") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, _ := newLarder(t)
			m, err := dataset.NewTransform(dataset.TransformFunc{
				Name: "bad", Code: key.Version("1"), In: []string{"a"}, Out: []string{"c"},
				Func: func(context.Context, dataset.Sample) (dataset.Sample, error) { runs.Add(1); return c.f() },
			})
			if err != nil {
				t.Fatal(err)
			}
			ds := dataset.Map(texts(3, "a"), m, dataset.MapOptions{Node: "n", Larder: l, Keep: true})
			s, err := ds.At(t.Context(), 2)
			if err != nil {
				t.Fatal(err)
			}
			before := runs.Load()
			for range 2 { // errors are not cached
				_, err = s.Value(t.Context(), "c")
				var at *dataset.SampleError
				if !errors.As(err, &at) || at.Node != "n" || at.Index != 2 || !c.want(err) {
					t.Errorf("the error is %v", err)
				}
			}
			if runs.Load() != before+2 {
				t.Errorf("%d executions for two attempts", runs.Load()-before)
			}
		})
	}
}

func TestTransformWithoutMakes(t *testing.T) {
	var runs atomic.Int64
	m, err := dataset.NewTransform(dataset.TransformFunc{
		Name: "open", Code: key.Version("1"),
		Func: func(ctx context.Context, s dataset.Sample) (dataset.Sample, error) {
			runs.Add(1)
			a, err := s.Item("a")
			return dataset.NewSample(dataset.Field{Key: "moved", Item: a}, dataset.Field{Key: "new", Item: dataset.NewItem("txt", "made")}), err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	l, reopen := newLarder(t)
	build := func(l *larder.Larder) dataset.Dataset[dataset.Sample] {
		return dataset.Map(texts(2, "a", "b"), m, dataset.MapOptions{Larder: l, Keep: true})
	}
	values(t, build(l), "new")
	ds := build(reopen())
	if got := values(t, ds, "moved"); !slices.Equal(got, []string{"a0", "a1"}) {
		t.Errorf("moved is %q", got)
	}
	s, err := ds.At(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Keys(); !slices.Equal(got, []string{"moved", "new"}) {
		t.Errorf("the sample has %q", got)
	}
	if runs.Load() != 2 {
		t.Errorf("%d executions, want 2", runs.Load())
	}
}

// TestScanMakesSamplesOnce checks that a pass over uncached samples computes each once, to
// identify and read it. The next run computes none.
func TestScanMakesSamplesOnce(t *testing.T) {
	var runs atomic.Int64
	op, err := key.NewOp("is-first", key.Version("1"))
	if err != nil {
		t.Fatal(err)
	}
	l, reopen := newLarder(t)
	for range 2 {
		ds := dataset.Map(texts(4, "a"), upper(t, "a", "c", &runs), dataset.MapOptions{Larder: l})
		stats := new(dataset.NodeStats)
		got, err := dataset.Scan[string]{
			Op: op, Reads: []string{"c"}, Larder: l, Stats: stats,
			Each: func(ctx context.Context, s dataset.Sample) (string, error) {
				v, err := s.Value(ctx, "c")
				return fmt.Sprint(v), err
			},
		}.Run(t.Context(), ds)
		if err != nil || !slices.Equal(got, []string{"A0", "A1", "A2", "A3"}) {
			t.Errorf("the scan gave %v, %v", got, err)
		}
		if n := stats.Computed.Load() + stats.FromStore.Load(); n != 4 {
			t.Errorf("%d samples are counted", n)
		}
		l = reopen()
	}
	if runs.Load() != 4 {
		t.Errorf("%d executions over two runs, want 4", runs.Load())
	}
}

func TestScanIsCachedAndCutsOff(t *testing.T) {
	var runs, scans atomic.Int64
	op, err := key.NewOp("is-first", key.Version("1"))
	if err != nil {
		t.Fatal(err)
	}
	l, reopen := newLarder(t)
	scan := func(l *larder.Larder) []bool {
		ds := dataset.Map(texts(4, "a"), upper(t, "a", "c", &runs), dataset.MapOptions{Larder: l, Keep: true})
		got, err := dataset.Scan[bool]{
			Op: op, Reads: []string{"c"}, Larder: l,
			Each: func(ctx context.Context, s dataset.Sample) (bool, error) {
				scans.Add(1)
				v, err := s.Value(ctx, "c")
				return v == "A0", err
			},
		}.Run(t.Context(), ds)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for range 2 {
		if got := scan(l); !slices.Equal(got, []bool{true, false, false, false}) {
			t.Errorf("the scan gave %v", got)
		}
		l = reopen()
	}
	if runs.Load() != 4 || scans.Load() != 4 {
		t.Errorf("%d executions and %d looks over two runs, want 4 and 4", runs.Load(), scans.Load())
	}
}

func TestCachedSamplesHoldWhatWasRead(t *testing.T) {
	var runs atomic.Int64
	var stats dataset.NodeStats
	ds := dataset.Map(texts(10, "a"), upper(t, "a", "c", &runs), dataset.MapOptions{Stats: &stats})
	ds, err := dataset.Cached(ds, cache.Options{Policy: "memo"}, "", &stats)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		values(t, ds, "c")
	}
	if runs.Load() != 10 || stats.FromMemory.Load() != 10 || stats.MemoryReads() != 20 || stats.Handed() != 10 {
		t.Errorf("%d executions, %d samples and %d reads from memory over three passes, want 10, 10 and 20", runs.Load(), stats.FromMemory.Load(), stats.MemoryReads())
	}
}
