package dataset_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/larder-data/larder/dataset"
)

// Elements that turn out to be slow are shared by all workers, though a worker had
// taken many of them while they were quick.
func TestStreamSharesSlowElements(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const quick, slow, workers = 5000, 200, 4
		ds := dataset.Func(quick+slow, func(_ context.Context, i int) (int, error) {
			if i >= quick {
				time.Sleep(time.Second)
			}
			return i, nil
		})
		start, want := time.Now(), 0
		for v, err := range dataset.Stream(t.Context(), ds, workers) {
			if err != nil || v != want {
				t.Fatal(v, want, err)
			}
			want++
		}
		if want != quick+slow {
			t.Errorf("%d elements", want)
		}
		if took := time.Since(start); took > (slow/workers+2)*time.Second {
			t.Errorf("%d elements of a second took %d workers %v", slow, workers, took)
		}
	})
}

// A consumer that leaves while workers wait for it ends them.
func TestStreamEndsWaitingWorkers(t *testing.T) {
	defer goleak.VerifyNone(t)
	ds := dataset.Func(1<<20, func(_ context.Context, i int) (int, error) { return i, nil })
	for leave := range 50 {
		for v, err := range dataset.Stream(t.Context(), ds, 3) {
			if err != nil {
				t.Fatal(err)
			}
			if v == leave {
				break
			}
		}
	}
}

// Streams that share a bound do no more at once than it says, all together.
func TestStreamsShareABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := dataset.Bounded(t.Context(), 2)
		var under, most atomic.Int64
		ds := dataset.Func(40, func(ctx context.Context, i int) (int, error) {
			now := under.Add(1)
			defer under.Add(-1)
			for before := most.Load(); now > before && !most.CompareAndSwap(before, now); before = most.Load() {
			}
			time.Sleep(time.Second)
			// What an element does in parallel belongs to it.
			return i, dataset.Parallel(ctx, 3, 3, func(context.Context, int) error { return nil })
		})
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() {
				for _, err := range dataset.Stream(ctx, ds, 2) {
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wait.Wait()
		if most.Load() > 2 {
			t.Errorf("%d at once, and 2 are allowed", most.Load())
		}
	})
}
