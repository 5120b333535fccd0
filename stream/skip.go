package stream

import "context"

// Skip omits the first n elements. Its state is that of its input.
func Skip[T any](s Stream[T], n int) Stream[T] {
	if n < 0 {
		return refused[T]("skip", "there cannot be %d elements", n)
	}
	return Stream[T]{&skipNode[T]{s, n}}
}

type skipNode[T any] struct {
	in Stream[T]
	n  int
}

func (k *skipNode[T]) describe(s *shape) {
	s.op("skip", param("n", k.n))
	s.input(k.in.of().describe)
}

func (k *skipNode[T]) open(o *opening) (cursor[T], error) {
	in, err := openInput(o, k.in)
	if err != nil {
		return nil, err
	}
	return &skipCursor[T]{in, uint64(k.n)}, nil
}

type skipCursor[T any] struct {
	*input[T]
	n uint64
}

func (c *skipCursor[T]) next(ctx context.Context) (v T, err error) {
	for c.input.n < c.n {
		if _, err := c.input.next(ctx); err != nil {
			return v, err
		}
	}
	return c.input.next(ctx)
}
