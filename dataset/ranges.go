package dataset

import (
	"context"
	"sync"
	"time"

	"github.com/larder-data/larder/pool"
)

// Ranges returns consecutive samples of a dataset after [Make]. It may be used by many
// goroutines, but each sample may be taken only once.
type Ranges struct {
	of    Dataset[Sample]
	batch int // batch size of the dataset
	mu    sync.Mutex
	left  map[int]Sample // requested but not computed; parts of them may be done
}

// RangesOf returns the ranges of a dataset.
func RangesOf(ds Dataset[Sample]) *Ranges {
	return &Ranges{of: ds, batch: BatchOf(ds), left: map[int]Sample{}}
}

// Range returns the samples in [from, to) that it computes within some milliseconds, but
// at least one, or if there are as many, a batch ([BatchOf]). The error is that of the
// sample after these.
func (r *Ranges) Range(ctx context.Context, from, to int) (samples []Sample, err error) {
	start := time.Now()
	for i := from; i < to && (i < from+max(1, r.batch) || time.Since(start) < pool.Patience); i++ {
		s, serr := r.at(ctx, i)
		if serr != nil {
			err = serr
			break
		}
		samples = append(samples, s)
	}
	n, merr := Make(ctx, samples)
	if n < len(samples) {
		r.leave(from+n, samples[n:])
		err = merr
	}
	return samples[:n], err
}

func (r *Ranges) at(ctx context.Context, i int) (Sample, error) {
	r.mu.Lock()
	s, ok := r.left[i]
	delete(r.left, i)
	r.mu.Unlock()
	if ok {
		return s, nil
	}
	return r.of.At(ctx, i)
}

func (r *Ranges) leave(from int, samples []Sample) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, s := range samples {
		r.left[from+i] = s
	}
}
