package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Bucketing configures [Bucket], which batches elements of similar length.
type Bucketing struct {
	// Bounds are lengths, ascending. The first bucket has elements shorter than the first
	// bound, the second those shorter than the second, and so on; the last bucket has the
	// rest.
	Bounds []int
	// Size is the largest number of elements of a batch; 0 means no bound.
	Size int
	// Tokens bounds the total length of a batch. With Padding, each element counts with the
	// length of the longest. 0 means no bound.
	Tokens  int
	Padding bool
	// Buffer, if greater than 0, is the number of elements held in each bucket for sorting.
	// When it is full, they are batched from the shortest on; elements of equal length keep
	// their order.
	Buffer int
	// Drop omits incomplete batches at the end of the input. With Tokens alone, a batch is
	// never known to be full, so none is omitted.
	Drop bool
	// Long omits elements that are longer than Tokens; otherwise they are an error.
	Long bool
	// Every, if greater than 0, empties all buckets after that many input elements. A
	// resumed state then reads at most that many again.
	Every int
}

// ErrTooLong is the error of an element that fits into no batch.
var ErrTooLong = errors.New("longer than a batch; raise Tokens, or set Long to omit such elements")

// Bucket groups elements of similar length into batches: see [Bucketing]. A batch is
// returned when it is full, and incomplete ones at the end, from the shortest elements
// on. Its state is the state of its input when it last held nothing, and the number of
// batches since.
func Bucket[T any](s Stream[T], b Bucketing, length func(T) int) Stream[[]T] {
	switch {
	case b.Size < 0 || b.Tokens < 0 || b.Buffer < 0 || b.Every < 0:
		return refused[[]T]("bucket", "a number is below 0")
	case b.Size == 0 && b.Tokens == 0:
		return refused[[]T]("bucket", "batches have no bound; set Size or Tokens")
	case b.Padding && b.Tokens == 0:
		return refused[[]T]("bucket", "padding is counted of a number of tokens; give that, too")
	case !slices.IsSorted(b.Bounds) || len(slices.Compact(slices.Clone(b.Bounds))) != len(b.Bounds):
		return refused[[]T]("bucket", "the bounds %v do not ascend", b.Bounds)
	}
	b.Bounds = slices.Clone(b.Bounds)
	return Stream[[]T]{&bucketNode[T]{s, b, length}}
}

// Tokens groups elements, in order, into batches with a total length of at most most.
func Tokens[T any](s Stream[T], most int, length func(T) int) Stream[[]T] {
	return Bucket(s, Bucketing{Tokens: most}, length)
}

type bucketNode[T any] struct {
	in Stream[T]
	Bucketing
	length func(T) int
}

func (b *bucketNode[T]) describe(s *shape) {
	s.op("bucket", param("bounds", b.Bounds), param("size", b.Size), param("tokens", b.Tokens), param("padding", b.Padding),
		param("buffer", b.Buffer), param("drop", b.Drop), param("long", b.Long), param("every", b.Every))
	s.function()
	s.input(b.in.of().describe)
}

func (b *bucketNode[T]) open(o *opening) (cursor[[]T], error) {
	since := o.marks.number()
	in, err := openInput(o, b.in)
	if err != nil {
		return nil, err
	}
	return hold[[]T](since, &bucketer[T]{of: b, in: in, buckets: make([]pile[T], len(b.Bounds)+1)}, in), nil
}

// bucketer holds, for each bucket, the waiting elements and the current batch.
type bucketer[T any] struct {
	of      *bucketNode[T]
	in      *input[T]
	buckets []pile[T]
	ready   [][]T // full batches
	n       int   // elements held, without those of ready
}

func (b *bucketer[T]) holds() bool { return b.n > 0 || len(b.ready) > 0 }

func (b *bucketer[T]) next(ctx context.Context) ([]T, error) {
	for len(b.ready) == 0 {
		v, err := b.in.next(ctx)
		if errors.Is(err, io.EOF) && b.n > 0 {
			b.flush(b.of.Drop)
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := b.add(v); err != nil {
			return nil, b.in.wrong("bucket", err)
		}
		if b.of.Every > 0 && b.in.n%uint64(b.of.Every) == 0 {
			b.flush(false)
		}
	}
	batch := b.ready[0]
	b.ready = b.ready[1:]
	return batch, nil
}

func (b *bucketer[T]) add(v T) error {
	l := b.of.length(v)
	if l < 0 {
		return fmt.Errorf("its length is %d", l)
	}
	if b.of.Tokens > 0 && l > b.of.Tokens {
		if b.of.Long {
			return nil
		}
		return fmt.Errorf("%w: it has %d of %d", ErrTooLong, l, b.of.Tokens)
	}
	k, exact := slices.BinarySearch(b.of.Bounds, l)
	if exact {
		k++
	}
	b.n++
	p := &b.buckets[k]
	if b.of.Buffer == 0 {
		b.put(p, sized[T]{l, v})
		return nil
	}
	p.waiting = append(p.waiting, sized[T]{l, v})
	if len(p.waiting) >= b.of.Buffer {
		b.sort(p)
	}
	return nil
}

// flush moves all held elements to ready or, with drop, only full batches.
func (b *bucketer[T]) flush(drop bool) {
	for i := range b.buckets {
		p := &b.buckets[i]
		b.sort(p)
		if len(p.values) > 0 && (!drop || b.of.Size == 0) {
			b.close(p)
		}
		b.n -= len(p.values)
		*p = pile[T]{}
	}
}
