package indexed

import (
	"context"
	"slices"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
)

// A Shard is a file, or a part of one, with some samples of a dataset. It may be used by
// many goroutines.
type Shard interface {
	Len() int
	Sample(ctx context.Context, i int) (dataset.Sample, error)
}

// Join opens n shards, several concurrently as env allows, and returns the dataset of
// their samples, in the order of the shards.
func Join[S Shard](ctx context.Context, env *component.Env, n int, open func(ctx context.Context, i int) (S, error)) (component.Samples, error) {
	var shards []S
	var ends []int
	total := 0
	for s, err := range dataset.Stream(ctx, dataset.Func(n, open), env.Pool) {
		if err != nil {
			return nil, err
		}
		total += s.Len()
		shards, ends = append(shards, s), append(ends, total)
	}
	return dataset.Func(total, func(ctx context.Context, i int) (dataset.Sample, error) {
		k, _ := slices.BinarySearch(ends, i+1)
		if k > 0 {
			i -= ends[k-1]
		}
		return shards[k].Sample(ctx, i)
	}), nil
}
