package dataset

import (
	"errors"
	"fmt"

	"github.com/larder-data/larder/order"
)

// MaxBatch is the largest batch that a transform may declare.
const MaxBatch = 512

// A PartialError is returned by a transform of several samples ([TransformFunc]) that failed
// for some of them. Its results for the others are used.
type PartialError struct {
	Errs map[int]error // by position in the batch
}

func (e *PartialError) Error() string {
	first := -1
	for i := range e.Errs {
		if first < 0 || i < first {
			first = i
		}
	}
	if first < 0 {
		return "nothing failed"
	}
	return fmt.Sprintf("%d samples of the batch failed, first number %d: %v", len(e.Errs), first, e.Errs[first])
}

// checkBatch refuses options that a transform of several samples cannot have.
func (f *TransformFunc) checkBatch() error {
	switch {
	case f.BatchFunc == nil && f.Batch != 0:
		return fmt.Errorf("%s: Batch is %d, but BatchFunc is missing", f.Name, f.Batch)
	case f.BatchFunc == nil:
		return nil
	case f.Func != nil:
		return fmt.Errorf("%s: both Func and BatchFunc are set; remove one", f.Name)
	case f.Random != nil:
		return fmt.Errorf("%s: Random is not supported with BatchFunc; use Func", f.Name)
	case f.Batch < 0 || f.Batch > MaxBatch:
		return fmt.Errorf("%s: Batch is %d; give 0 to %d", f.Name, f.Batch, MaxBatch)
	}
	return nil
}

// batched is a dataset that computes consecutive samples faster together than one by
// one.
type batched interface {
	// Batch returns how many samples to request together; 0 means one at a time, and 1 as
	// many as are computed within some milliseconds.
	Batch() int
}

// BatchOf returns how many consecutive samples of ds should be requested together with
// [Ranges]: the largest batch of the transforms ([TransformFunc]) that compute ds. 0 means
// that samples may be requested one by one; 1 means that requesting as many as are
// computed quickly costs less ([TransformFunc].Quick).
func BatchOf(ds any) int {
	if d, ok := ds.(batched); ok {
		return d.Batch()
	}
	return 0
}

// WithMinBatch returns ds with [BatchOf] raised to at least n.
func WithMinBatch(ds Dataset[Sample], n int) Dataset[Sample] {
	if n = max(n, BatchOf(ds)); n <= 0 {
		return ds
	}
	return &batching{ds, n}
}

type batching struct {
	Dataset[Sample]
	n int
}

func (b *batching) Batch() int { return b.n }

func (b *batching) ReadOrder(source Dataset[Sample], o order.Order) (order.Order, bool) {
	return readOrder(b.Dataset, source, o)
}

// batchOf returns how many samples a mapper computes together at most.
func batchOf(m Mapper) (n int) {
	switch m := m.(type) {
	case *funcTransform:
		n = m.f.Batch
	case *chain:
		for _, s := range m.steps {
			n = max(n, batchOf(s))
		}
	}
	return n
}

// leastOf returns how many samples of a mapper should be requested together.
func leastOf(m Mapper) (n int) {
	switch m := m.(type) {
	case *funcTransform:
		if n = m.f.Batch; m.f.Quick {
			n = min(n, 1)
		}
	case *chain:
		for _, s := range m.steps {
			n = max(n, leastOf(s))
		}
	}
	return n
}

func (d *mapped) Batch() int { return max(leastOf(d.transform), d.below) }

// batches reports whether d, or a dataset that it is computed from, computes several
// samples together.
func (d *mapped) batches() bool { return batchOf(d.transform) > 1 || d.below > 0 }

func (a *arranged) Batch() int { return BatchOf(a.ds) }

func (k *keeping) Batch() int { return BatchOf(k.ds) }

func (e *each) Batch() int { return BatchOf(e.ds) }

func (t *traced) Batch() int { return BatchOf(t.ds) }

func (r *reordered[T]) Batch() int { return BatchOf(r.ds) }

// Batch implements [batched].
func (c *CachedDataset) Batch() int { return BatchOf(c.ds) }

// partOf splits the error of a transform of n samples into the errors of single samples,
// by position, or returns the one error of all of them.
func partOf(err error, n int) (failed map[int]error, whole error) {
	partial := (*PartialError)(nil)
	if !errors.As(err, &partial) {
		return nil, err
	}
	for i, e := range partial.Errs {
		if i < 0 || i >= n || e == nil {
			return nil, fmt.Errorf("the transform received %d samples and reports failure of number %d: %w", n, i, err)
		}
	}
	return partial.Errs, nil
}
