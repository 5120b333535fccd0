package flow

import (
	"context"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
)

// computeAll computes all samples of a node, and caches what its options ask
// for.
func (r *run) computeAll(ctx context.Context, s *state) error {
	parts, err := s.wanted(s.data)
	if err != nil {
		return err
	}
	err = r.reading(s, parts, func() error { return r.computeParts(ctx, s, parts) })
	if err == nil && s.only == nil {
		r.settle(s)
	}
	return err
}

func (r *run) computeParts(ctx context.Context, s *state, parts []component.Samples) error {
	s.stats.Done.Store(0) // of earlier work of an operator
	s.stats.Total.Store(count(component.Data{Parts: parts}))
	for _, part := range parts {
		if err := r.computeRange(ctx, s, part, 0, part.Len()); err != nil {
			return err
		}
	}
	return nil
}

// computeRange computes the samples in a range, and caches what the options ask
// for.
func (r *run) computeRange(ctx context.Context, s *state, part component.Samples, from, to int) error {
	ranges := dataset.RangesOf(part)
	return r.pool(s.Node).AtLeast(dataset.BatchOf(part)).Ranges(ctx, to-from, func(ctx context.Context, i, j int) (int, error) {
		samples, err := ranges.Range(ctx, from+i, from+j)
		for i, sample := range samples {
			for _, e := range sample.Executions() {
				if err := r.computeOne(ctx, e); err != nil {
					return i, err
				}
			}
			s.stats.Done.Add(1)
		}
		return len(samples), err
	})
}

// computeOne computes one result. In a range it leaves out results that are not
// cached, because no process could use them.
func (r *run) computeOne(ctx context.Context, e *dataset.Execution) error {
	if r.ranges {
		if cached, err := e.Keeps(ctx); err != nil || !cached {
			return err
		}
	}
	return e.Make(ctx)
}

// settle ends the counting of hits at a node that has returned all samples, and
// at its inputs.
func (r *run) settle(s *state) {
	if s.stats.Settled.Swap(true) {
		return // its inputs are settled, too
	}
	for _, from := range s.inputs {
		r.settle(from)
	}
}
