package dataset

import (
	"context"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/pool"
)

// Pass calls do for every sample of ds, in roughly that order and with the concurrency
// of p. For transforms of several samples ([BatchOf]) it first computes the available
// samples together. The first error of ds, of such a transform or of do ends the pass.
func Pass(ctx context.Context, ds Dataset[Sample], p *pool.Pool, do func(ctx context.Context, i int, s Sample) error) error {
	n := BatchOf(ds)
	if n == 0 || larder.IsCachedOnly(ctx) {
		return p.Each(ctx, ds.Len(), func(ctx context.Context, i int) error {
			s, err := ds.At(ctx, i)
			if err != nil {
				return err
			}
			return do(ctx, i, s)
		})
	}
	ranges := RangesOf(ds)
	return p.AtLeast(n).Ranges(ctx, ds.Len(), func(ctx context.Context, from, to int) (int, error) {
		samples, err := ranges.Range(ctx, from, to)
		for k, s := range samples {
			if err := do(ctx, from+k, s); err != nil {
				return k, err
			}
		}
		return len(samples), err
	})
}
