package dataset

import (
	"context"
	"iter"
	"time"

	"github.com/larder-data/larder/pool"
)

// Stream yields the elements of ds in order while workers of p prefetch the next ones:
// see [pool.Stream]. Samples that are computed in batches ([BatchOf]) are requested in
// batches.
func Stream[T any](ctx context.Context, ds Dataset[T], p *pool.Pool) iter.Seq2[T, error] {
	n := BatchOf(ds)
	r, ok := ds.(Ranger[T])
	if samples, of := any(ds).(Dataset[Sample]); !ok && of && n > 0 {
		r, ok = any(&ranger{samples, RangesOf(samples)}).(Ranger[T])
	}
	return pool.Stream(ctx, p.AtLeast(n), ds.Len(), func(ctx context.Context, from, to int) ([]T, error) {
		if ok {
			return r.Range(ctx, from, to)
		}
		start, values := time.Now(), make([]T, 0, to-from)
		for i := from; i < to && (i == from || time.Since(start) < pool.Patience); i++ {
			v, err := ds.At(ctx, i)
			if err != nil {
				return values, err
			}
			values = append(values, v)
		}
		return values, nil
	})
}

// ranger is a dataset of samples that are computed together.
type ranger struct {
	Dataset[Sample]
	*Ranges
}
