package dataset_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/larder-data/larder/cache"
	"github.com/larder-data/larder/dataset"
)

func equal(a, b any) bool { return cmp.Equal(a, b) }

// slow is a dataset of n numbers that takes a while for each, longer for
// earlier ones, and counts those under way and begun.
func slow(n int, begun, under, most *atomic.Int64) dataset.Dataset[int] {
	return dataset.Func(n, func(ctx context.Context, i int) (int, error) {
		begun.Add(1)
		if u := under.Add(1); u > most.Load() {
			most.Store(u)
		}
		defer under.Add(-1)
		select {
		case <-time.After(time.Duration(n-i) * time.Millisecond):
			return i, nil
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	})
}

func TestStreamKeepsOrderAndHoldsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n, workers = 50, 4
		var begun, under, most atomic.Int64
		var got []int
		for v, err := range dataset.Stream(t.Context(), slow(n, &begun, &under, &most), workers) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, v)
			synctest.Wait()
			time.Sleep(time.Second) // a slow consumer: let the workers go as far as they may
			synctest.Wait()
			if ahead := int(begun.Load()) - len(got); ahead > 2*workers+1 {
				t.Fatalf("%d elements are ahead of a slow consumer", ahead)
			}
		}
		if len(got) != n || !slices.IsSorted(got) {
			t.Errorf("got %v", got)
		}
		if most.Load() > workers {
			t.Errorf("%d at once with %d workers", most.Load(), workers)
		}
	})
}

func TestStreamEndsWithItsConsumer(t *testing.T) {
	defer goleak.VerifyNone(t)
	var begun, under, most atomic.Int64
	for v, err := range dataset.Stream(t.Context(), slow(1000, &begun, &under, &most), 4) {
		if err != nil || v != 0 {
			t.Fatal(v, err)
		}
		break
	}
	if under.Load() != 0 {
		t.Errorf("%d still under way", under.Load())
	}
}

func TestStreamStopsAtTheFirstError(t *testing.T) {
	boom := errors.New("boom")
	ds := dataset.Func(100, func(_ context.Context, i int) (int, error) {
		if i == 7 {
			return 0, boom
		}
		return i, nil
	})
	n := 0
	var last error
	for _, err := range dataset.Stream(t.Context(), ds, 3) {
		n++
		last = err
	}
	if n != 8 || !errors.Is(last, boom) {
		t.Errorf("%d elements, the last with error %v", n, last)
	}
}

func TestStreamOfACancelledContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var begun, under, most atomic.Int64
	defer cancel()
	n := 0
	var last error
	for _, err := range dataset.Stream(ctx, slow(1000, &begun, &under, &most), 2) {
		n++
		last = err
		cancel()
	}
	if !errors.Is(last, context.Canceled) || n > 6 {
		t.Errorf("%d elements, the last with error %v", n, last)
	}
}

func TestParallelVisitsEachOnce(t *testing.T) {
	var seen [1000]atomic.Int64
	err := dataset.Parallel(t.Context(), len(seen), 8, func(_ context.Context, i int) error {
		seen[i].Add(1)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range seen {
		if seen[i].Load() != 1 {
			t.Fatalf("element %d was visited %d times", i, seen[i].Load())
		}
	}
}

func TestCachedSamplesHoldWhatWasRead(t *testing.T) {
	var runs atomic.Int64
	var tally dataset.Tally
	ds := dataset.Map(texts(10, "a"), upper(t, "a", "c", &runs), dataset.MapOptions{Tally: &tally})
	ds, err := dataset.Cached(ds, cache.Options{Policy: "memo"}, &tally)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		values(t, ds, "c")
	}
	if runs.Load() != 10 || tally.FromMemory.Load() != 20 {
		t.Errorf("%d executions and %d hits over three passes, want 10 and 20", runs.Load(), tally.FromMemory.Load())
	}
}
