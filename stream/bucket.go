package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Bucketing says how elements of about one length are put into batches.
type Bucketing struct {
	// Bounds are lengths, ascending: elements shorter than the first are put together,
	// those shorter than the second, and so on, and those that are left.
	Bounds []int
	// Size is how many elements a batch has at most; 0 is no bound.
	Size int
	// Tokens is what their lengths add up to at most, or with Padding what they take when
	// all are as long as the longest; 0 is no bound.
	Tokens  int
	Padding bool
	// Buffer, if it is more than 0, is how many elements are held in each bucket to put
	// those of about one length together: when there are as many, they are put into
	// batches from the shortest on, those of one length as they came.
	Buffer int
	// Drop leaves out batches that are not full when the input ends. With Tokens alone no
	// batch is known to be full, so it leaves out none.
	Drop bool
	// Long leaves out elements that are longer than Tokens, which else are an error.
	Long bool
	// Every, if it is more than 0, has all that is held leave after so many elements of
	// the input: then no more than these are read again where a state is resumed.
	Every int
}

// ErrTooLong is the error of an element that fits into no batch.
var ErrTooLong = errors.New("it is longer than a batch may be; raise Tokens, or say Long to leave out such elements")

// Bucket puts elements of about one length into batches: see [Bucketing]. A batch comes
// when it is full; at the end those that are not, from the shortest elements on. Its state
// is that of its input where it last held nothing, and how many batches it has handed out
// since.
func Bucket[T any](s Stream[T], b Bucketing, length func(T) int) Stream[[]T] {
	switch {
	case b.Size < 0 || b.Tokens < 0 || b.Buffer < 0 || b.Every < 0:
		return refused[[]T]("bucket", "a number is below 0")
	case b.Size == 0 && b.Tokens == 0:
		return refused[[]T]("bucket", "batches have no bound; say how many elements one has, or how many tokens")
	case b.Padding && b.Tokens == 0:
		return refused[[]T]("bucket", "padding is counted of a number of tokens; give that, too")
	case !slices.IsSorted(b.Bounds) || len(slices.Compact(slices.Clone(b.Bounds))) != len(b.Bounds):
		return refused[[]T]("bucket", "the bounds %v do not ascend", b.Bounds)
	}
	b.Bounds = slices.Clone(b.Bounds)
	return Stream[[]T]{&bucketNode[T]{s, b, length}}
}

// Tokens puts elements, as they come, into batches whose lengths add up to most.
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

// bucketer has, of each bucket, the elements that wait and the batch that is being made.
type bucketer[T any] struct {
	of      *bucketNode[T]
	in      *input[T]
	buckets []pile[T]
	ready   [][]T // batches that are full
	n       int   // elements held, those of ready not counted
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

// flush hands out all that is held, or drops it, but for what fills batches.
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
