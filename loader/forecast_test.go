package loader_test

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/larder-data/larder/cache"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/loader"
	"github.com/larder-data/larder/order"
)

// TestHitsArePredicted checks that the hits predicted at the start of an epoch are exact.
// It covers shuffled epochs, draws with replacement and mixtures; bounds in samples and
// bytes; one reader and several ranks.
func TestHitsArePredicted(t *testing.T) {
	testrand.Long(t)
	const n, epochs = 6000, 3
	for _, kind := range []loader.Kind{loader.Shuffled, loader.WithReplacement, loader.Mixed} {
		for _, ranks := range []int{1, 2, 4} {
			for _, bound := range []cache.Options{{Policy: "lru", Size: n / 10}, {Policy: "lru", Size: n / 2}, {Policy: "lru", Bytes: n * 400 / 4}} {
				t.Run(fmt.Sprintf("%v, %d ranks, %d samples or %d bytes", kind, ranks, bound.Size, bound.Bytes), func(t *testing.T) {
					hits := hitsOf(t, kind, n, ranks, epochs, bound)
					if len(hits) != 2 {
						t.Fatalf("%d epochs are known of", len(hits))
					}
					for _, h := range hits {
						actual := float64(h.Hits) / float64(h.Reads)
						t.Logf("epoch %d: %.4f predicted, %.4f of %d reads hit", h.Epoch, h.Predicted, actual, h.Reads)
						if math.Abs(actual-h.Predicted) > 0.01 {
							t.Errorf("epoch %d: %.4f were predicted to hit, and %.4f did", h.Epoch, h.Predicted, actual)
						}
					}
				})
			}
		}
	}
}

// hitsOf reads epochs through a cache by ranks that advance together, and returns the
// counters of the cache.
func hitsOf(t *testing.T, kind loader.Kind, n, ranks, epochs int, bound cache.Options) []loader.Hits {
	t.Helper()
	ds := dataset.Func(n, func(_ context.Context, i int) (dataset.Sample, error) { return sampleOf(i, 2), nil })
	cached, err := dataset.Cached(ds, bound, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	o := loader.Options{Data: []loader.Data{cached}, Plan: loader.PlanOptions{Order: kind, Seed: 3, Batch: loader.BatchOptions{Size: 10}}, Caches: []*dataset.CachedDataset{cached}}
	if kind == loader.Mixed {
		half := dataset.Reorder[dataset.Sample](cached, order.Affine{Step: 1, N: n / 10})
		o.Data = []loader.Data{half, dataset.Reorder[dataset.Sample](cached, order.Affine{Start: n / 10, Step: 1, N: n - n/10})}
		o.Plan.Parts = []loader.Part{{Name: "a", Weight: 1}, {Name: "b", Weight: 1}}
		o.Plan.Draws = n
	}
	l, err := loader.New(o)
	if err != nil {
		t.Fatal(err)
	}
	readers := make([]*loader.Reader, ranks)
	for r := range readers {
		if readers[r], err = l.Read(t.Context(), loader.ReadOptions{Rank: r, WorldSize: ranks, Epochs: epochs, Ahead: 3}); err != nil {
			t.Fatal(err)
		}
		defer readers[r].Close()
	}
	for range epochs * n / 10 / ranks { // one round after another
		var round sync.WaitGroup
		for _, r := range readers {
			round.Go(func() {
				for {
					b, err := r.Next(t.Context())
					if b != nil {
						b.Release()
						return
					}
					if err == nil || t.Context().Err() != nil {
						return
					}
				}
			})
		}
		round.Wait()
	}
	return l.Hits()
}
