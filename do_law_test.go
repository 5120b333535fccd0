package larder_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store/memory"
)

// TestDoAmongLarders checks that Larders that share a store wait for one computation, as processes do.
func TestDoAmongLarders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(memory.Options{})
		var runs atomic.Int64
		var wait sync.WaitGroup
		for i := range 50 {
			l := open(t, s)
			wait.Go(func() {
				v, err := larder.Do(t.Context(), l, action(t, "f", i%5), func(context.Context) (int, error) {
					runs.Add(1)
					time.Sleep(time.Second)
					return i % 5, nil
				})
				if v != i%5 || err != nil {
					t.Error(v, err)
				}
			})
		}
		wait.Wait()
		if runs.Load() != 5 {
			t.Errorf("%d executions of 5 computations", runs.Load())
		}
	})
}

// TestMemoryOnlyAmongGoroutines checks that a value for memory only is computed once, although no store provides a lease
// for its key.
func TestMemoryOnlyAmongGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, memory.New(memory.Options{}))
		var runs atomic.Int64
		var wait sync.WaitGroup
		for range 50 {
			wait.Go(func() {
				r, err := larder.Call[int]{Action: action(t, "f"), MemoryOnly: true, Compute: func(context.Context) (int, error) {
					runs.Add(1)
					time.Sleep(time.Second)
					return 7, nil
				}}.Do(t.Context(), l)
				if r.Value != 7 || err != nil {
					t.Error(r.Value, err)
				}
			})
		}
		wait.Wait()
		if runs.Load() != 1 {
			t.Errorf("%d executions", runs.Load())
		}
	})
}

// TestEarlyCutoffIsNoted checks that after an early cutoff the next run finds the value under the first key without
// requesting the inputs.
func TestEarlyCutoffIsNoted(t *testing.T) {
	s := memory.New(memory.Options{})
	op, err := key.NewOp("outer", key.Version("1"))
	if err != nil {
		t.Fatal(err)
	}
	computed, resolved := 0, 0
	for i, want := range []int{1, 1, 2, 2} { // inputs requested in total
		r, err := larder.Call[string]{
			Action: op.Action(key.Input{Name: "in", Ref: key.Result(action(t, "inner", i/2).Key(), "out")}),
			Resolve: func(context.Context) ([]key.Input, error) {
				resolved++
				return []key.Input{{Name: "in", Ref: key.Content(key.DigestOf([]byte("same")))}}, nil
			},
			Compute: func(context.Context) (string, error) { computed++; return "same!", nil },
		}.Do(t.Context(), open(t, s))
		if err != nil || r.Value != "same!" || computed != 1 || resolved != want {
			t.Errorf("run %d: %q, %v after %d executions; inputs were requested %d times, want %d", i, r.Value, err, computed, resolved, want)
		}
	}
}

// TestMemoryIsBounded checks that values beyond MemoryBytes are read from the store.
func TestMemoryIsBounded(t *testing.T) {
	l, err := larder.Open(larder.Options{Store: memory.New(memory.Options{}), MemoryBytes: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for i := range 100 {
			v, err := larder.Do(t.Context(), l, action(t, "f", i), func(context.Context) ([]byte, error) { return make([]byte, 1000+i), nil })
			if err != nil || len(v) != 1000+i {
				t.Fatal(len(v), err)
			}
		}
	}
	if m := l.Metrics(); m.Computed != 100 || m.MemoryHits > 20 || m.StoreHits < 80 {
		t.Errorf("in 20 000 bytes there is space for some of 100 values of 1000: %+v", m)
	}
}

// TestLargeEncodingsAreOnDisk checks that a large result is not held in memory if the cache directory has it, and is
// otherwise.
func TestLargeEncodingsAreOnDisk(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name string
		open larder.Options
		held int // of a small and a large result
	}{
		{"on disk", larder.Options{Dir: dir}, 1},
		{"on a disk that cannot be written", larder.Options{Dir: dir, ReadOnly: true}, 2},
		{"in a store elsewhere", larder.Options{Store: memory.New(memory.Options{})}, 2},
	} {
		l, err := larder.Open(c.open)
		if err != nil {
			t.Fatal(err)
		}
		runs := 0
		for range 3 {
			for _, size := range []int{1000, 100_000} {
				v, err := larder.Do(t.Context(), l, action(t, c.name, size), func(context.Context) ([]byte, error) { runs++; return make([]byte, size), nil })
				if err != nil || len(v) != size {
					t.Fatal(c.name, len(v), err)
				}
			}
		}
		if _, held, _ := l.InMemory(); held != c.held || runs != 2 {
			t.Errorf("%s: %d results are in memory and %d were computed, want %d and 2", c.name, held, runs, c.held)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

func BenchmarkHitOf100KB(b *testing.B) {
	for name, o := range map[string]larder.Options{"disk": {Dir: b.TempDir()}, "memory": {Store: memory.New(memory.Options{})}} {
		b.Run(name, func(b *testing.B) {
			l, err := larder.Open(o)
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			a := action(b, "f", 1)
			for b.Loop() {
				if _, err := larder.Do(b.Context(), l, a, func(context.Context) ([]byte, error) { return make([]byte, 100_000), nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestMaxBytesIsTheStores checks that the limit given to a Larder applies to its store.
func TestMaxBytesIsTheStores(t *testing.T) {
	l, err := larder.Open(larder.Options{Dir: t.TempDir(), MaxBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if u, err := l.Store().Usage(t.Context()); err != nil || u.Limit != 1<<20 {
		t.Errorf("the store has a limit of %d bytes, %v", u.Limit, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// TestRecordedInputsAreBounded checks that only the latest lists of inputs are recorded for a computation that reads
// something else each time.
func TestRecordedInputsAreBounded(t *testing.T) {
	dir := t.TempDir()
	s := memory.New(memory.Options{})
	mode := filepath.Join(dir, "mode")
	runs := 0
	get := func(way int) {
		t.Helper()
		write(t, mode, fmt.Sprint(way))
		l, err := larder.Open(larder.Options{Store: s, MemoryBytes: -1})
		if err != nil {
			t.Fatal(err)
		}
		got, err := larder.Do(t.Context(), l, newAction(t, "reader", 1), func(ctx context.Context) (string, error) {
			runs++
			b, err := larder.ReadFile(ctx, mode)
			if err != nil {
				return "", err
			}
			_, _ = larder.ReadFile(ctx, filepath.Join(dir, "other"+string(b))) // the file does not exist
			return string(b), nil
		})
		if err != nil || got != fmt.Sprint(way) {
			t.Errorf("way %d: %q, %v", way, got, err)
		}
	}
	const ways = 40
	for way := range ways {
		get(way)
	}
	for way := ways - 10; way < ways; way++ {
		get(way)
	}
	if runs != ways {
		t.Errorf("%d executions of %d ways, the last ten twice", runs, ways)
	}
	if get(0); runs != ways+1 {
		t.Errorf("the first of %d ways is still known", ways)
	}
}
