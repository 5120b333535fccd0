package loader

import (
	"context"
	"fmt"
)

// Gather returns a batch of the samples with the given numbers, counted over
// all parts, in the given epoch, independently of the plan. allocator may be nil,
// as in [ReadOptions].
func (l *Loader) Gather(ctx context.Context, epoch uint64, samples []int, allocator Allocator) (*Batch, error) {
	total := 0
	for _, p := range l.plan.Parts {
		total += p.Len
	}
	for _, n := range samples {
		if n < 0 || n >= total {
			return nil, fmt.Errorf("loader: there is no sample %d of %d", n, total)
		}
	}
	e, err := l.edition(ctx, epoch)
	if err != nil {
		return nil, err
	}
	if allocator == nil {
		allocator = &l.heap
	}
	ctx = l.pool.Context(ctx)
	j := l.job(e, Content{Epoch: epoch, Samples: samples})
	defer j.end()
	if err := j.read(ctx); err != nil {
		return nil, fmt.Errorf("loader: %w", err)
	}
	data, err := allocator.Allocate(ctx, j.bytes)
	if err != nil {
		return nil, err
	}
	b, err := j.write(ctx, data)
	if err != nil {
		allocator.Free(data)
		return nil, fmt.Errorf("loader: %w", err)
	}
	b.allocator = allocator
	return b, nil
}
