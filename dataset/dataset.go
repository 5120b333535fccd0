// Package dataset provides lazy, immutable datasets of samples.
//
// An [Item] is one value: an image, a table of metadata, an array. A [Sample] is a named
// set of items. A [Dataset] is a random-access sequence, usually of samples. A [Mapper]
// computes one sample from another; an operator builds datasets from datasets. A [Transform]
// is a mapper that declares which items it reads and computes. An [Execution] is a pending
// call of a transform on one sample; the items that it computes refer to it. The cache
// stores its outputs, encoded, as one record.
//
// Building a dataset reads nothing, and requesting a sample computes nothing. An item is
// read or computed when its value is requested. Samples and datasets may be shared by
// any number of goroutines. Their values in memory live as long as they do.
//
// An item's value is always what its bytes decode to, whether it was just computed or
// cached, so caching cannot change a result. A result is cached under a key computed
// from the identity of the transform and the content of the items that it reads. The
// first request computes it, once. Passes over a whole dataset ([Ranges], [Stream],
// [Scan]) process a bounded number of samples at a time. They end with the first error
// or with their context. A stream yields in order.
//
// The error of a sample is a [SampleError], which names node and position. A file that
// changed while it was in use is [ErrChanged], never a mixture of states.
package dataset

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/larder-data/larder/order"
)

// A Dataset is a random-access sequence. At may be called from many goroutines and
// returns an error unless i is in [0, Len()).
type Dataset[T any] interface {
	Len() int
	At(ctx context.Context, i int) (T, error)
}

// A Ranger is a dataset that computes consecutive elements faster together than one by
// one.
type Ranger[T any] interface {
	Dataset[T]
	// Range returns elements of [from, to), which must not be empty, from the first on: at
	// least one, and then as many as it computes within some milliseconds. An error belongs
	// to the element after the returned ones.
	Range(ctx context.Context, from, to int) ([]T, error)
}

// List returns a dataset of values already in memory.
func List[T any](values ...T) Dataset[T] { return list[T](values) }

type list[T any] []T

func (l list[T]) Len() int { return len(l) }

func (l list[T]) At(_ context.Context, i int) (T, error) {
	if err := inRange(i, len(l)); err != nil {
		var zero T
		return zero, err
	}
	return l[i], nil
}

// Func returns a dataset of n values that calls at on each access.
func Func[T any](n int, at func(ctx context.Context, i int) (T, error)) Dataset[T] {
	return &function[T]{n, at}
}

type function[T any] struct {
	n  int
	at func(ctx context.Context, i int) (T, error)
}

func (f *function[T]) Len() int { return f.n }

func (f *function[T]) At(ctx context.Context, i int) (T, error) {
	if err := inRange(i, f.n); err != nil {
		var zero T
		return zero, err
	}
	return f.at(ctx, i)
}

// Reorder returns ds in another order: position i of the result is ds at o.At(i).
// Reordering twice composes the orders.
func Reorder[T any](ds Dataset[T], o order.Order) Dataset[T] {
	if r, ok := ds.(*reordered[T]); ok {
		return &reordered[T]{r.ds, order.Then(o, r.order)}
	}
	return &reordered[T]{ds, o}
}

type reordered[T any] struct {
	ds    Dataset[T]
	order order.Order
}

func (r *reordered[T]) Len() int { return r.order.Len() }

func (r *reordered[T]) At(ctx context.Context, i int) (T, error) {
	if err := inRange(i, r.order.Len()); err != nil {
		var zero T
		return zero, err
	}
	return r.ds.At(ctx, r.order.At(i))
}

// Cat returns the concatenation of its parts.
func Cat[T any](parts ...Dataset[T]) Dataset[T] {
	c := &cat[T]{parts: parts, ends: make([]int, len(parts)), join: joinOf(parts)}
	for i, p := range parts {
		c.n += p.Len()
		c.ends[i] = c.n
	}
	return c
}

type cat[T any] struct {
	parts []Dataset[T]
	ends  []int // ends[k] is the number of elements in parts[:k+1]
	n     int
	join
}

func (c *cat[T]) Len() int { return c.n }

func (c *cat[T]) At(ctx context.Context, i int) (T, error) {
	if err := inRange(i, c.n); err != nil {
		var zero T
		return zero, err
	}
	k, _ := slices.BinarySearch(c.ends, i+1)
	start := 0
	if k > 0 {
		start = c.ends[k-1]
	}
	return c.parts[k].At(ctx, i-start)
}

// All yields the elements of ds in order, one at a time.
func All[T any](ctx context.Context, ds Dataset[T]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for i := range ds.Len() {
			v, err := ds.At(ctx, i)
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// IndexError reports an access outside a dataset.
type IndexError struct{ Index, Len int }

func (e *IndexError) Error() string {
	return fmt.Sprintf("index %d is outside a dataset of %d", e.Index, e.Len)
}

func inRange(i, n int) error {
	if i < 0 || i >= n {
		return &IndexError{i, n}
	}
	return nil
}
