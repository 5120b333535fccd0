package loader_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/larder-data/larder/cache"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/loader"
	"github.com/larder-data/larder/order"
)

// TestCachesKnowWhatIsRead checks that a cache that knows the future reads keeps samples
// that are read again, while another one has nearly none of them. The optimal hits are
// computed read by read.
func TestCachesKnowWhatIsRead(t *testing.T) {
	const n, space, epochs = 600, 150, 4
	for _, kind := range []loader.Kind{loader.Shuffled, loader.WithReplacement} {
		misses := func(reported bool) int64 {
			var made atomic.Int64
			ds := dataset.Func(n, func(_ context.Context, i int) (dataset.Sample, error) {
				made.Add(1)
				return sampleOf(i, 2), nil
			})
			cached, err := dataset.Cached(ds, cache.Options{Policy: "lru", Size: space}, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			// The order of reads differs from the order in the cache.
			backwards := dataset.Reorder[dataset.Sample](cached, order.Reverse(n))
			o := loader.Options{Data: []loader.Data{backwards}, Plan: loader.PlanOptions{Order: kind, Batch: loader.BatchOptions{Size: 10}}}
			if reported {
				o.Caches = []*dataset.CachedDataset{cached}
			}
			l, err := loader.New(o)
			if err != nil {
				t.Fatal(err)
			}
			read(t, l, loader.ReadOptions{Epochs: epochs, Ahead: 2})
			return made.Load()
		}
		reported, unreported := misses(true), misses(false)
		t.Logf("%v: %d of %d reads missed, %d unreported", kind, reported, n*epochs, unreported)
		least := int64(n + (epochs-1)*(n-space)) // of a shuffle
		if kind == loader.Shuffled && (reported < least || reported > least+least/20) || reported > unreported*9/10 {
			t.Errorf("%v: %d reads missed, and %d that were not reported", kind, reported, unreported)
		}
	}
}
