package dataset

import (
	"context"
	"iter"
)

// Distinct yields positions in ds, in order, such that every sample is computed by the
// same executions as the sample at one of them. For a dataset that repeats samples these
// are only the positions of its distinct samples; if that cannot be determined, all
// positions. It ends with ctx.
func Distinct[T any](ctx context.Context, ds Dataset[T]) iter.Seq[int] {
	if d, ok := ds.(interface {
		distinct(ctx context.Context) iter.Seq[int]
	}); ok {
		return d.distinct(ctx)
	}
	return upTo(ctx, ds.Len())
}

func upTo(ctx context.Context, n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if ctx.Err() != nil || !yield(i) {
				return
			}
		}
	}
}

func (r *reordered[T]) distinct(ctx context.Context) iter.Seq[int] {
	n := r.ds.Len()
	if r.order.Len() <= n {
		return upTo(ctx, r.order.Len())
	}
	return func(yield func(int) bool) {
		seen, left := make([]bool, n), n
		for pos := range upTo(ctx, r.order.Len()) {
			index := r.order.At(pos)
			if seen[index] {
				continue
			}
			if !yield(pos) {
				return
			}
			seen[index] = true
			if left--; left == 0 {
				return
			}
		}
	}
}

func (a *arranged) distinct(ctx context.Context) iter.Seq[int] { return Distinct(ctx, a.ds) }

func (d *mapped) distinct(ctx context.Context) iter.Seq[int] {
	if r := d.transform.Random(); r != nil && r.perPosition() {
		return upTo(ctx, d.Len())
	}
	return Distinct(ctx, d.ds)
}

func (d *composed) distinct(ctx context.Context) iter.Seq[int] { return Distinct(ctx, d.steps) }

func (k *keeping) distinct(ctx context.Context) iter.Seq[int] { return Distinct(ctx, k.ds) }

func (t *traced) distinct(ctx context.Context) iter.Seq[int] { return Distinct(ctx, t.ds) }
