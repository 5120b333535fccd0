package stream

import (
	"context"
	"errors"
	"io"
)

// Batch groups each n elements into one. The last batch is shorter if elements are left
// over; with drop, they are omitted. Its state is that of its input.
func Batch[T any](s Stream[T], n int, drop bool) Stream[[]T] {
	if n < 1 {
		return refused[[]T]("batch", "a batch cannot have %d elements", n)
	}
	return Stream[[]T]{&batchNode[T]{s, n, drop}}
}

type batchNode[T any] struct {
	in   Stream[T]
	n    int
	drop bool
}

func (b *batchNode[T]) describe(s *shape) {
	s.op("batch", param("n", b.n), param("drop", b.drop))
	s.input(b.in.of().describe)
}

func (b *batchNode[T]) open(o *opening) (cursor[[]T], error) {
	in, err := openInput(o, b.in)
	if err != nil {
		return nil, err
	}
	return &batchCursor[T]{in, b}, nil
}

type batchCursor[T any] struct {
	*input[T]
	of *batchNode[T]
}

// maxAtOnce bounds the memory allocated before there are elements for it.
const maxAtOnce = 1 << 10

func (c *batchCursor[T]) next(ctx context.Context) ([]T, error) {
	batch := make([]T, 0, min(c.of.n, maxAtOnce))
	for len(batch) < c.of.n {
		v, err := c.input.next(ctx)
		if errors.Is(err, io.EOF) && len(batch) > 0 && !c.of.drop {
			return batch, nil
		}
		if err != nil {
			return nil, err
		}
		batch = append(batch, v)
	}
	return batch, nil
}
