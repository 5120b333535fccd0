package dataset

import (
	"context"
	"iter"
	"time"

	"github.com/larder-data/larder/pool"
)

// Stream yields the elements of ds in order while workers of p get the next ones
// ready: see [pool.Stream].
func Stream[T any](ctx context.Context, ds Dataset[T], p *pool.Pool) iter.Seq2[T, error] {
	return pool.Stream(ctx, p.AtLeast(BatchOf(ds)), ds.Len(), func(ctx context.Context, from, to int) ([]T, error) {
		if r, ok := ds.(Ranger[T]); ok {
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
