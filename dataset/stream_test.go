package dataset_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/pool"
)

// TestStreamSharesSlowElements checks that all workers share elements that turn out to be
// slow, even if one worker had taken many of them while they were fast.
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
		for v, err := range dataset.Stream(t.Context(), ds, pool.New(workers)) {
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
