package stream_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/larder-data/larder/pool"
	"github.com/larder-data/larder/stream"
)

// TestMapParallelIsBoundedAndInOrder checks that elements computed concurrently arrive in
// order, and that no more are in flight than allowed.
func TestMapParallelIsBoundedAndInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most, read atomic.Int64
		gate := make(chan struct{})
		counted := mapped(stream.Of(rangeOf(100)...), func(n int) int { read.Add(1); return n })
		s := stream.MapParallel(counted, pool.New(3), func(_ context.Context, n int) (int, error) {
			most.Store(max(most.Load(), now.Add(1)))
			<-gate
			now.Add(-1)
			return n * 2, nil
		})
		r, err := s.Open(t.Context(), stream.State{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		var all []int
		done := make(chan error)
		go func() {
			for v, err := range r.All(t.Context()) {
				if err != nil {
					done <- err
					return
				}
				all = append(all, v)
			}
			done <- nil
		}()
		synctest.Wait()
		if now.Load() != 3 || read.Load() != 6 {
			t.Errorf("%d elements are being made by 3 workers, and %d were read", now.Load(), read.Load())
		}
		close(gate)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		want := rangeOf(100)
		for i := range want {
			want[i] *= 2
		}
		if !slices.Equal(all, want) || most.Load() != 3 {
			t.Errorf("%d concurrently: %v", most.Load(), all)
		}
	})
}

// TestPrefetchIsBounded checks that a prefetch is bounded in elements and in bytes.
func TestPrefetchIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		ahead stream.Ahead
		size  int64
		want  int64
	}{
		"by number":       {stream.Ahead{Elements: 5}, 1, 6},
		"by bytes":        {stream.Ahead{Bytes: 35}, 10, 5},
		"large elements":  {stream.Ahead{Bytes: 5}, 10, 3},
		"no size at all":  {stream.Ahead{Elements: 4}, 0, 5},
		"a negative size": {stream.Ahead{Elements: 4}, -1, 5},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var read atomic.Int64
				counted := mapped(stream.Of(rangeOf(100)...), func(n int) int { read.Add(1); return n })
				r, err := stream.Prefetch(counted, c.ahead, func(int) int64 { return c.size }).Open(t.Context(), stream.State{})
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				if v, err := r.Next(t.Context()); err != nil || v != 0 {
					t.Fatal(v, err)
				}
				synctest.Wait()
				if read.Load() != c.want {
					t.Errorf("%d elements were read for one, and should be %d", read.Load(), c.want)
				}
			})
		})
	}
}

// TestNothingIsReadInVain checks that a limit reads no more than it returns, and a batch no
// more than it holds.
func TestNothingIsReadInVain(t *testing.T) {
	read := 0
	counted := mapped(stream.Of(rangeOf(100)...), func(n int) int { read++; return n })
	if all, err := stream.Collect(t.Context(), stream.Limit(counted, 7)); err != nil || len(all) != 7 || read != 7 {
		t.Errorf("%d of a limit of 7 were read: %v, %v", read, all, err)
	}
	read = 0
	if all, err := stream.Collect(t.Context(), stream.Limit(stream.Batch(counted, 3, false), 2)); err != nil || len(all) != 2 || read != 6 {
		t.Errorf("%d of two batches of 3 were read: %v, %v", read, all, err)
	}
	read = 0
	if all, err := stream.Collect(t.Context(), stream.Shard(counted, 1, 10)); err != nil || !slices.Equal(all, []int{1, 11, 21, 31, 41, 51, 61, 71, 81, 91}) || read != 10 {
		t.Errorf("%d of a shard of 10 were made: %v, %v", read, all, err)
	}
}

// TestStatesAreOfAnyNumberOfWorkers checks that a state can be resumed with any number of
// workers, also with none.
func TestStatesAreOfAnyNumberOfWorkers(t *testing.T) {
	s := stream.From(replaying(60))
	streams := []stream.Stream[int]{stream.Map(s, double), stream.MapParallel(s, pool.New(1), double), stream.MapParallel(s, pool.New(5), double)}
	for _, from := range streams {
		all, states := rest(t, from, stream.State{})
		for _, to := range streams {
			for _, cut := range []int{1, 30, 59} {
				if left, _ := rest(t, to, states[cut]); !slices.Equal(left, all[cut:]) {
					t.Errorf("behind %d come %v", cut, left)
				}
			}
		}
	}
}
