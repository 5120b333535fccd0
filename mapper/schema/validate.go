package schema

import (
	"context"
	"slices"
	"sync"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/pool"
)

// Options configure a validation. The zero value checks the whole dataset, with as many
// workers as there are processors.
type Options struct {
	Pool  *pool.Pool // bounds the concurrency
	First int        // samples to check; 0 is all
	Limit int        // violations listed; 0 is 100
}

func (o Options) samples(ds dataset.Dataset[dataset.Sample]) int {
	if o.First > 0 {
		return min(o.First, ds.Len())
	}
	return ds.Len()
}

// each calls do for each sample, or with its error. For samples computed in batches, it
// calls do after the batch.
func (o Options) each(ctx context.Context, ds dataset.Dataset[dataset.Sample], do func(ctx context.Context, i int, s dataset.Sample, err error) error) error {
	n, batch := o.samples(ds), dataset.BatchOf(ds)
	if batch <= 1 {
		return o.Pool.Each(ctx, n, func(ctx context.Context, i int) error {
			s, err := ds.At(ctx, i)
			return do(ctx, i, s, err)
		})
	}
	ranges := dataset.RangesOf(ds)
	return o.Pool.AtLeast(batch).Ranges(ctx, n, func(ctx context.Context, from, to int) (int, error) {
		samples, err := ranges.Range(ctx, from, to)
		for k, s := range samples {
			if err := do(ctx, from+k, s, nil); err != nil {
				return k, err
			}
		}
		if err == nil {
			return len(samples), nil
		}
		return len(samples) + 1, do(ctx, from+len(samples), dataset.Sample{}, err)
	})
}

// A Report is the result of a validation.
type Report struct {
	Samples    int         `json:"samples"`    // number checked
	Bad        int         `json:"bad"`        // number with violations
	Violations int         `json:"violations"` // total number
	List       []Violation `json:"list"`       // the first ones, by sample, then item
}

// Validate checks the samples of a dataset. A sample that cannot be computed is a
// violation; the error is only that of ctx.
func (s *Schema) Validate(ctx context.Context, ds dataset.Dataset[dataset.Sample], o Options) (*Report, error) {
	if o.Limit <= 0 {
		o.Limit = 100
	}
	r := &Report{Samples: o.samples(ds), List: []Violation{}}
	var mu sync.Mutex
	err := o.each(ctx, ds, func(ctx context.Context, i int, sample dataset.Sample, err error) error {
		found, err := s.checkMade(ctx, i, sample, err)
		if err != nil || len(found) == 0 {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		r.Bad++
		r.Violations += len(found)
		r.List = append(r.List, found...)
		if len(r.List) > 2*o.Limit {
			r.cut(o.Limit)
		}
		return nil
	})
	r.cut(o.Limit)
	return r, err
}

func (r *Report) cut(limit int) {
	slices.SortStableFunc(r.List, compare)
	r.List = r.List[:min(limit, len(r.List))]
}

func (s *Schema) checkMade(ctx context.Context, i int, sample dataset.Sample, err error) ([]Violation, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return []Violation{{Sample: i, Message: err.Error()}}, nil
	}
	return s.Check(ctx, i, sample)
}
