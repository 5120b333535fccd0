package dataset

import (
	"errors"
	"fmt"

	"github.com/larder-data/larder/order"
)

// MaxBatch is how many samples a maker may be given at once at most.
const MaxBatch = 512

// A PartialError is returned by a maker of several samples ([MakerFunc]) that could
// not make some of them. What it returned for the others counts.
type PartialError struct {
	Errs map[int]error // by position in what the maker was given
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
	return fmt.Sprintf("%d of the samples failed, the first as number %d: %v", len(e.Errs), first, e.Errs[first])
}

// checkBatch refuses what cannot be made of several samples at once.
func (f *MakerFunc) checkBatch() error {
	switch {
	case f.Together == nil && f.Batch != 0:
		return fmt.Errorf("%s: Batch is %d, and there is no function Together", f.Name, f.Batch)
	case f.Together == nil:
		return nil
	case f.Func != nil:
		return fmt.Errorf("%s: it has Func and Together; leave out one of them", f.Name)
	case f.Random != nil:
		return fmt.Errorf("%s: a maker of several samples at once draws no random numbers; give it Func in place of Together", f.Name)
	case f.Batch < 0 || f.Batch > MaxBatch:
		return fmt.Errorf("%s: Batch is %d and must be from 0 to %d", f.Name, f.Batch, MaxBatch)
	}
	return nil
}

// batched is a dataset whose samples are made for less if some consecutive ones are
// asked for together.
type batched interface {
	// Batch returns how many; 0 means that each may come by itself, and 1 that as many
	// may as are made within some milliseconds.
	Batch() int
}

// BatchOf returns how many consecutive samples of ds are best asked for together, by
// [Ranges]: as many as a maker that it is made by takes at once ([MakerFunc]), the
// most of several. 0 means that each may be asked for by itself, and 1 that it costs
// less to ask for as many as are made quickly ([MakerFunc].Quick).
func BatchOf(ds any) int {
	if d, ok := ds.(batched); ok {
		return d.Batch()
	}
	return 0
}

// Batching is ds, of which so many samples are best asked for together, or as many as
// it says itself if that is more.
func Batching(ds Dataset[Sample], n int) Dataset[Sample] {
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

// batchOf returns how many samples a mapper makes at once at most.
func batchOf(m Mapper) (n int) {
	switch m := m.(type) {
	case *maker:
		n = m.f.Batch
	case *chain:
		for _, s := range m.steps {
			n = max(n, batchOf(s))
		}
	}
	return n
}

// leastOf returns how many samples a mapper is best asked for at once.
func leastOf(m Mapper) (n int) {
	switch m := m.(type) {
	case *maker:
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

func (d *mapped) Batch() int { return max(leastOf(d.maker), d.below) }

// batches reports whether it, or something that it is made of, is made several at once.
func (d *mapped) batches() bool { return batchOf(d.maker) > 1 || d.below > 0 }

func (a *arranged) Batch() int { return BatchOf(a.ds) }

func (k *keeping) Batch() int { return BatchOf(k.ds) }

func (e *each) Batch() int { return BatchOf(e.ds) }

func (t *traced) Batch() int { return BatchOf(t.ds) }

func (r *reordered[T]) Batch() int { return BatchOf(r.ds) }

// Batch implements [batched].
func (c *CachedDataset) Batch() int { return BatchOf(c.ds) }

// partOf takes an error of a maker that was given n samples apart: into those of some
// samples, by position, or one of all of them.
func partOf(err error, n int) (failed map[int]error, whole error) {
	partial := (*PartialError)(nil)
	if !errors.As(err, &partial) {
		return nil, err
	}
	for i, e := range partial.Errs {
		if i < 0 || i >= n || e == nil {
			return nil, fmt.Errorf("the maker was given %d samples and says that number %d failed: %w", n, i, err)
		}
	}
	return partial.Errs, nil
}
