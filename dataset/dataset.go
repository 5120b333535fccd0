// Package dataset is about samples that are read on demand.
//
// An [Item] is one value: an image, a table of metadata, an array. A [Sample]
// is a named set of items. A [Dataset] is a random-access sequence, usually of
// samples. A [Mapper] makes one sample from another; an operator makes
// datasets from datasets. A [Maker] is a mapper that declares which items it
// reads and makes. One execution of it is a [Making], where its items come from
// before anybody has computed them; what is kept of it is a parcel: the items
// that it made, encoded.
//
// Everything is lazy and immutable: building a dataset reads nothing, asking
// for a sample computes nothing, and an item is read or computed when its
// value is asked for. Because nothing changes once made, samples and datasets
// may be shared by any number of goroutines, and what they hold in memory
// lives as long as they do.
//
// An item's value is what its bytes decode to, whether they were just made or
// kept, so that keeping results cannot change one. A result is kept under a key
// made of what the maker is and of the content of the items that it reads, and
// computed once, by whoever asks first. What goes through a whole dataset
// ([Parallel], [Stream], [Scan]) has a bounded number of samples under way and
// ends with the first error or with its context. A stream yields in order.
//
// What goes wrong with a sample is a [SampleError], which names node and position.
// A file that is not what it was before is [ErrChanged], never a mixture.
package dataset

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/larder-data/larder/order"
)

// A Dataset is a random-access sequence. At may be called from many
// goroutines; i is in [0, Len()), and anything else is an error.
type Dataset[T any] interface {
	Len() int
	At(ctx context.Context, i int) (T, error)
}

// A Ranger is a dataset that makes consecutive elements together for less than one
// by one.
type Ranger[T any] interface {
	Dataset[T]
	// Range returns the elements from one up to another, which is after it: as
	// many as it comes to within some milliseconds, and one at least. An error is
	// that of the element after those that are returned.
	Range(ctx context.Context, from, to int) ([]T, error)
}

// List is a dataset of values already in memory.
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

// Func is a dataset of n values made on each access by at.
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

// Reorder is ds in another order: position i of the result is ds at o.At(i).
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

// Cat is its parts one after another.
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

// IndexError is the error of an access outside a dataset.
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
