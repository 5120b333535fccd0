package dataset_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/pool"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/memory"
)

// asked counts the requests to a store.
type asked struct {
	store.Store
	many, one, puts atomic.Int64
}

func (a *asked) Get(ctx context.Context, k key.Key) (store.Record, error) {
	a.one.Add(1)
	return a.Store.Get(ctx, k)
}

func (a *asked) GetWithoutRefresh(ctx context.Context, k key.Key) (store.Record, error) {
	a.one.Add(1)
	return a.Store.GetWithoutRefresh(ctx, k)
}

func (a *asked) GetMany(ctx context.Context, keys []key.Key) ([]store.Record, error) {
	a.many.Add(1)
	return a.Store.GetMany(ctx, keys)
}

func (a *asked) Put(ctx context.Context, records ...store.Record) error {
	a.puts.Add(1)
	return a.Store.Put(ctx, records...)
}

// TestMakeAsksTheStoreOnce checks one request for all samples of each of two nodes, where
// one node reads the other. Time stands still, so no time limit is reached.
func TestMakeAsksTheStoreOnce(t *testing.T) { synctest.Test(t, testMakeAsksTheStoreOnce) }

func testMakeAsksTheStoreOnce(t *testing.T) {
	s := &asked{Store: memory.New(memory.Options{})}
	var first, second atomic.Int64
	build := func() dataset.Dataset[dataset.Sample] {
		l, err := larder.Open(larder.Options{Store: s})
		if err != nil {
			t.Fatal(err)
		}
		o := dataset.MapOptions{Larder: l, Keep: true}
		return dataset.Map(dataset.Map(texts(100, "a"), upper(t, "a", "b", &first), o), upper(t, "b", "c", &second), o)
	}
	for run, most := range []int64{4, 1} {
		s.puts.Store(0)
		samples, err := dataset.RangesOf(build()).Range(t.Context(), 0, 100)
		if err != nil || len(samples) != 100 {
			t.Fatalf("%d samples, %v", len(samples), err)
		}
		if first.Load() != 100 || second.Load() != 100 {
			t.Errorf("run %d: %d and %d executions, want 100 each", run, first.Load(), second.Load())
		}
		if s.puts.Load() >= most {
			t.Errorf("run %d: %d writes", run, s.puts.Load())
		}
		many, puts := s.many.Load(), s.puts.Load()
		for i, sample := range samples {
			if v, err := sample.Value(t.Context(), "c"); err != nil || v != strings.ToUpper("a"+itoa(i)) {
				t.Fatalf("sample %d is %v, %v", i, v, err)
			}
		}
		if s.many.Load() != many || s.puts.Load() != puts || first.Load() != 100 || second.Load() != 100 {
			t.Errorf("run %d: what was made is made again when it is read", run)
		}
	}
}

func itoa(i int) string {
	if i < 10 {
		return string(rune('0' + i))
	}
	return itoa(i/10) + itoa(i%10)
}

// failing is upper for samples whose string is not the bad one.
func failing(t *testing.T, bad string, runs *atomic.Int64, before func()) dataset.Transform {
	t.Helper()
	m, err := dataset.NewTransform(dataset.TransformFunc{
		Name: "failing", Code: key.Version("1"), In: []string{"a"}, Out: []string{"c"},
		Func: func(ctx context.Context, s dataset.Sample) (dataset.Sample, error) {
			runs.Add(1)
			before()
			v, err := s.Value(ctx, "a")
			if err != nil || v == bad {
				return dataset.Sample{}, errors.Join(err, errBad)
			}
			return s.WithItem("c", dataset.NewItem("txt", v)), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var errBad = errors.New("bad")

// TestMakeEndsAtAFailure checks that a failure returns the samples before it, and that
// nothing is executed twice.
func TestMakeEndsAtAFailure(t *testing.T) { synctest.Test(t, testMakeEndsAtAFailure) }

func testMakeEndsAtAFailure(t *testing.T) {
	l, reopen := newLarder(t)
	var runs atomic.Int64
	stats := &dataset.NodeStats{}
	ds := dataset.Map(texts(20, "a"), failing(t, "a7", &runs, func() {}), dataset.MapOptions{Larder: l, Keep: true, Node: "n", Stats: stats})
	samples, err := dataset.RangesOf(ds).Range(t.Context(), 0, 20)
	at := (*dataset.SampleError)(nil)
	if len(samples) != 7 || !errors.Is(err, errBad) || !errors.As(err, &at) || at.Index != 7 || at.Node != "n" {
		t.Errorf("%d samples, %v", len(samples), err)
	}
	if runs.Load() != 8 || stats.Failed.Load() != 1 || stats.Computed.Load() != 7 {
		t.Errorf("%d executions, %d failed, %d computed", runs.Load(), stats.Failed.Load(), stats.Computed.Load())
	}
	ds = dataset.Map(texts(20, "a"), failing(t, "", &runs, func() {}), dataset.MapOptions{Larder: reopen(), Keep: true})
	if samples, err := dataset.RangesOf(ds).Range(t.Context(), 0, 20); len(samples) != 20 || err != nil || runs.Load() != 8+13 {
		t.Errorf("what was made before the failure is not cached: %d executions, %v", runs.Load()-8, err)
	}
}

// TestMakeLeavesTheRest checks that slow samples are left to free workers, so that all are
// in flight concurrently.
func TestMakeLeavesTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := newLarder(t)
		var runs atomic.Int64
		ds := dataset.Map(texts(32, "a"), failing(t, "", &runs, func() { time.Sleep(time.Second) }), dataset.MapOptions{Larder: l, Keep: true})
		start := time.Now()
		if samples, err := dataset.RangesOf(ds).Range(t.Context(), 0, 4); len(samples) != 1 || err != nil || time.Since(start) != time.Second {
			t.Errorf("%d samples in %v, %v", len(samples), time.Since(start), err)
		}
		start = time.Now()
		var mu sync.Mutex
		var done []int
		ranges := dataset.RangesOf(ds)
		err := pool.New(8).Ranges(t.Context(), 32, func(ctx context.Context, from, to int) (int, error) {
			samples, err := ranges.Range(ctx, from, to)
			mu.Lock()
			defer mu.Unlock()
			for i := range samples {
				done = append(done, from+i)
			}
			return len(samples), err
		})
		slices.Sort(done)
		if err != nil || len(done) != 32 || len(slices.Compact(done)) != 32 {
			t.Errorf("%v, %v", done, err)
		}
		if took := time.Since(start); took != 4*time.Second { // 31 seconds of work for 8
			t.Errorf("it took %v", took)
		}
		if runs.Load() != 32 {
			t.Errorf("%d executions", runs.Load())
		}
	})
}

// TestWhatIsLeftIsNotMadeAgain checks two nodes, of which the second is slow: results of
// the first for samples left to later are not looked up again.
func TestWhatIsLeftIsNotMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := newLarder(t)
		var first, second atomic.Int64
		stats := &dataset.NodeStats{}
		ds := dataset.Map(texts(16, "a"), upper(t, "a", "b", &first), dataset.MapOptions{Larder: l, Keep: true, Stats: stats})
		ds = dataset.Map(ds, failing(t, "", &second, func() { time.Sleep(time.Second) }), dataset.MapOptions{Larder: l, Keep: true})
		ranges := dataset.RangesOf(ds)
		for at := 0; at < 16; {
			samples, err := ranges.Range(t.Context(), at, 16)
			if err != nil || len(samples) != 1 {
				t.Fatalf("%d samples, %v", len(samples), err)
			}
			at += len(samples)
		}
		if first.Load() != 16 || second.Load() != 16 || stats.Computed.Load() != 16 || stats.FromMemory.Load() != 0 {
			t.Errorf("%d and %d executions, %d computed, %d from memory", first.Load(), second.Load(), stats.Computed.Load(), stats.FromMemory.Load())
		}
	})
}
