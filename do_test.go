package larder_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/internal/proc/singleflight"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/memory"
)

func open(t testing.TB, s store.Store) *larder.Larder {
	t.Helper()
	l, err := larder.Open(larder.Options{Store: s, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func action(t testing.TB, name string, args ...any) *key.Action {
	t.Helper()
	a, err := key.NewAction(name, key.Version("1"), args...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestDoComputesOnce(t *testing.T) {
	s := memory.New(memory.Options{})
	var runs atomic.Int64
	compute := func(context.Context) (int, error) { runs.Add(1); return 42, nil }
	for _, l := range []*larder.Larder{open(t, s), open(t, s)} {
		for range 3 {
			if v, err := larder.Do(t.Context(), l, action(t, "f", 1), compute); v != 42 || err != nil {
				t.Fatal(v, err)
			}
		}
	}
	if runs.Load() != 1 {
		t.Errorf("%d executions over two runs, want 1", runs.Load())
	}
	l := open(t, s)
	if _, err := larder.Do(t.Context(), l, action(t, "f", 2), compute); err != nil {
		t.Fatal(err)
	}
	if runs.Load() != 2 {
		t.Error("another argument found the result of the first")
	}
}

func TestDoAmongGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, memory.New(memory.Options{}))
		var runs atomic.Int64
		var wait sync.WaitGroup
		for i := range 200 {
			wait.Go(func() {
				v, err := larder.Do(t.Context(), l, action(t, "f", i%10), func(context.Context) (int, error) {
					runs.Add(1)
					time.Sleep(time.Second)
					return i % 10, nil
				})
				if v != i%10 || err != nil {
					t.Error(v, err)
				}
			})
		}
		wait.Wait()
		if runs.Load() != 10 {
			t.Errorf("%d executions of 10 computations", runs.Load())
		}
	})
}

func TestDoCancelsOnlyTheWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, memory.New(memory.Options{}))
		a := action(t, "f")
		stopped := make(chan error, 1)
		compute := func(ctx context.Context) (int, error) {
			select {
			case <-time.After(time.Minute):
				return 1, nil
			case <-ctx.Done():
				stopped <- ctx.Err()
				return 0, ctx.Err()
			}
		}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var wait sync.WaitGroup
		wait.Go(func() {
			start := time.Now()
			if _, err := larder.Do(short, l, a, compute); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
				t.Errorf("the impatient waiter got %v after %v", err, time.Since(start))
			}
		})
		wait.Go(func() {
			if v, err := larder.Do(t.Context(), l, a, compute); v != 1 || err != nil {
				t.Errorf("the patient waiter got %v, %v", v, err)
			}
		})
		wait.Wait()
		alone, cancelAlone := context.WithTimeout(t.Context(), time.Second)
		defer cancelAlone()
		if _, err := larder.Do(alone, l, action(t, "g"), compute); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a lone waiter got %v", err)
		}
		if err := <-stopped; !errors.Is(err, context.Canceled) {
			t.Errorf("a computation without callers ended with %v", err)
		}
	})
}

func TestDoDoesNotKeepErrors(t *testing.T) {
	l := open(t, memory.New(memory.Options{}))
	boom := errors.New("boom")
	runs := 0
	for range 2 {
		_, err := larder.Do(t.Context(), l, action(t, "f"), func(context.Context) (int, error) { runs++; return 0, boom })
		if !errors.Is(err, boom) {
			t.Errorf("the error is %v", err)
		}
	}
	var p *singleflight.PanicError
	_, err := larder.Do(t.Context(), l, action(t, "f"), func(context.Context) (int, error) { runs++; panic("at the disco") })
	if !errors.As(err, &p) || !strings.Contains(string(p.Stack), "TestDoDoesNotKeepErrors") {
		t.Errorf("a panic came back as %v", err)
	}
	v, err := larder.Do(t.Context(), l, action(t, "f"), func(context.Context) (int, error) { runs++; return 5, nil })
	if v != 5 || err != nil || runs != 4 {
		t.Errorf("after errors: %v, %v, %d executions", v, err, runs)
	}
}

func TestDoRefusesWhatCannotBeCachedBeforeComputing(t *testing.T) {
	l := open(t, memory.New(memory.Options{}))
	type result struct {
		Value int
		Done  chan int
	}
	_, err := larder.Do(t.Context(), l, action(t, "f"), func(context.Context) (result, error) {
		t.Error("computed what cannot be cached")
		return result{}, nil
	})
	var u *codec.UnencodableError
	if !errors.As(err, &u) || !strings.Contains(err.Error(), "Done") {
		t.Errorf("the error is %v", err)
	}
}

func TestDoHandsOutValuesOfOnesOwn(t *testing.T) {
	l := open(t, memory.New(memory.Options{}))
	get := func() []int {
		v, err := larder.Do(t.Context(), l, action(t, "f"), func(context.Context) ([]int, error) { return []int{1, 2, 3}, nil })
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for range 3 {
		v := get()
		if !slices.Equal(v, []int{1, 2, 3}) {
			t.Fatalf("a caller sees what another one changed: %v", v)
		}
		v[0] = 100
	}
}

func TestDoOfAnotherTypeIsNoHit(t *testing.T) {
	s := memory.New(memory.Options{})
	if _, err := larder.Do(t.Context(), open(t, s), action(t, "f"), func(context.Context) (int64, error) { return 7, nil }); err != nil {
		t.Fatal(err)
	}
	v, err := larder.Do(t.Context(), open(t, s), action(t, "f"), func(context.Context) (string, error) { return "seven", nil })
	if v != "seven" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
}

func TestDoFindsCycles(t *testing.T) {
	l := open(t, memory.New(memory.Options{}))
	var f func(ctx context.Context, n int) (int, error)
	f = func(ctx context.Context, n int) (int, error) {
		return larder.Do(ctx, l, action(t, "f", n%3), func(ctx context.Context) (int, error) { return f(ctx, n+1) })
	}
	if _, err := f(t.Context(), 0); !errors.Is(err, larder.ErrCycle) {
		t.Errorf("the error is %v", err)
	}
}

// TestEarlyCutoff checks a computation whose input is computed by another one that changes without changing its result.
func TestEarlyCutoff(t *testing.T) {
	s := memory.New(memory.Options{})
	op, err := key.NewOp("outer", key.Version("1"))
	if err != nil {
		t.Fatal(err)
	}
	inner, outer := 0, 0
	get := func(version string) string {
		l := open(t, s)
		in, err := key.NewAction("inner", key.Version(version))
		if err != nil {
			t.Fatal(err)
		}
		makeInner := func(ctx context.Context) (string, error) {
			return larder.Do(ctx, l, in, func(context.Context) (string, error) { inner++; return "same", nil })
		}
		r, err := larder.Call[string]{
			Action: op.Action(key.Input{Name: "in", Ref: key.Result(in.Key(), "out")}),
			Resolve: func(ctx context.Context) ([]key.Input, error) {
				v, err := makeInner(ctx)
				return []key.Input{{Name: "in", Ref: key.Content(key.DigestOf([]byte(v)))}}, err
			},
			Compute: func(ctx context.Context) (string, error) {
				outer++
				v, err := makeInner(ctx)
				return v + "!", err
			},
		}.Do(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		return r.Value
	}
	for _, c := range []struct {
		version      string
		inner, outer int
	}{{"A", 1, 1}, {"A", 1, 1}, {"B", 2, 1}, {"B", 2, 1}, {"A", 2, 1}} {
		if v := get(c.version); v != "same!" || inner != c.inner || outer != c.outer {
			t.Errorf("version %s: %q after %d and %d executions, want %d and %d", c.version, v, inner, outer, c.inner, c.outer)
		}
	}
}

func TestCachedOnlyComputesNothing(t *testing.T) {
	l := open(t, memory.New(memory.Options{}))
	compute := func(context.Context) (int, error) { return 1, nil }
	dry := larder.CachedOnly(t.Context())
	if _, err := larder.Do(dry, l, action(t, "f"), compute); !errors.Is(err, larder.ErrNotCached) {
		t.Errorf("the error is %v", err)
	}
	if _, err := larder.Do(t.Context(), l, action(t, "f"), compute); err != nil {
		t.Fatal(err)
	}
	if v, err := larder.Do(dry, l, action(t, "f"), compute); v != 1 || err != nil {
		t.Errorf("%v, %v", v, err)
	}
	if m := l.Metrics(); m.Computed != 1 || m.MemoryHits != 1 {
		t.Errorf("metrics %+v", m)
	}
}

// full is a store that accepts no records.
type full struct{ store.Store }

func (full) Put(context.Context, ...store.Record) error { return store.ErrFull }

func TestDoPassesThroughWhenTheStoreIsFull(t *testing.T) {
	var log strings.Builder
	l, err := larder.Open(larder.Options{Store: full{memory.New(memory.Options{})}, MemoryBytes: -1, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	for range 3 {
		v, err := larder.Do(t.Context(), l, action(t, "f"), func(context.Context) (int, error) { runs++; return 9, nil })
		if v != 9 || err != nil {
			t.Error(v, err)
		}
	}
	if runs != 3 || l.Metrics().Uncached != 3 || strings.Count(log.String(), "\n") != 1 {
		t.Errorf("%d executions, %d not cached, log:\n%s", runs, l.Metrics().Uncached, log.String())
	}
}

// TestDoHandsOutValuesOfOnesOwnNextToShared checks that a caller that shares a value does not share it with callers that
// want their own.
func TestDoHandsOutValuesOfOnesOwnNextToShared(t *testing.T) {
	l := open(t, memory.New(memory.Options{}))
	a := action(t, "f")
	compute := func(context.Context) (map[string]int, error) { return map[string]int{"a": 1}, nil }
	if _, err := (larder.Call[map[string]int]{Action: a, Compute: compute, Share: true}).Do(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		v, err := larder.Do(t.Context(), l, a, compute)
		if err != nil || v["a"] != 1 {
			t.Fatalf("%v, %v", v, err)
		}
		v["a"] = 99
	}
}

func TestDoHandsOutArraysOfOnesOwn(t *testing.T) {
	s := memory.New(memory.Options{})
	compute := func(context.Context) (*array.Array, error) { return array.From([]uint8{1, 2, 3}, 3) }
	for _, l := range []*larder.Larder{open(t, s), open(t, s)} { // computed, and read back
		for range 3 {
			v, err := larder.Do(t.Context(), l, action(t, "f"), compute)
			if err != nil || v.Data[0] != 1 {
				t.Fatalf("%v, %v", v, err)
			}
			v.Data[0] = 99
		}
	}
}

// TestWhatOnlyMemoryKeeps checks that a value that cannot be written is cached in memory on request, by calls and
// batches, and returned to all callers.
func TestWhatOnlyMemoryKeeps(t *testing.T) {
	type model struct {
		predict func(int) int
		jobs    chan int
	}
	s := memory.New(memory.Options{})
	l := open(t, s)
	var runs atomic.Int64
	call := larder.Call[*model]{
		Action: action(t, "model"), MemoryOnly: true, Share: true,
		Compute: func(context.Context) (*model, error) {
			runs.Add(1)
			return &model{predict: func(i int) int { return 2 * i }, jobs: make(chan int)}, nil
		},
	}
	if r, ok := call.Find(t.Context(), l); ok {
		t.Errorf("before it is made there is %v", r.Value)
	}
	first, err := call.Do(t.Context(), l)
	if err != nil || first.From != larder.Computed || first.Value.predict(4) != 8 || first.Uncached != nil {
		t.Fatalf("%+v, %v", first, err)
	}
	found, ok := call.Find(t.Context(), l)
	if !ok || found.Value != first.Value {
		t.Errorf("%+v, %v is found", found, ok)
	}
	other := call
	other.Action = action(t, "model", "other")
	results, errs := larder.Batch[*model]{Calls: []larder.Call[*model]{call, other}}.Do(t.Context(), l)
	if errs != nil || results[0].Value != first.Value || results[0].From != larder.FromMemory || results[1].From != larder.Computed {
		t.Errorf("a batch gives %+v, %v", results, errs)
	}
	if runs.Load() != 2 {
		t.Errorf("%d executions of two computations", runs.Load())
	}
	for _, err := range s.Records(t.Context()) {
		t.Errorf("something is in the store (%v)", err)
	}
	// Another type under the key is another value.
	type wrong struct{ C chan int }
	r, err := larder.Call[*wrong]{Action: call.Action, MemoryOnly: true, Share: true, Compute: func(context.Context) (*wrong, error) {
		return &wrong{}, nil
	}}.Do(t.Context(), l)
	if err != nil || r.From != larder.Computed {
		t.Errorf("%+v, %v", r, err)
	}
	// A value that is not shared would have to be copied.
	call.Share = false
	if _, err := call.Do(t.Context(), l); err == nil {
		t.Error("a value that cannot be copied is cached for callers that may change it")
	}
}
