package stream

import (
	"context"
	"io"
)

// Limit ends after n elements, and reads no further. Its state is that of its input.
func Limit[T any](s Stream[T], n int) Stream[T] {
	if n < 0 {
		return refused[T]("limit", "there cannot be %d elements", n)
	}
	return Stream[T]{&limitNode[T]{s, n}}
}

type limitNode[T any] struct {
	in Stream[T]
	n  int
}

func (l *limitNode[T]) describe(s *shape) {
	s.op("limit", param("n", l.n))
	s.input(l.in.of().describe)
}

func (l *limitNode[T]) open(o *opening) (cursor[T], error) {
	in, err := openInput(o, l.in)
	if err != nil {
		return nil, err
	}
	return &limitCursor[T]{in, l.n, false}, nil
}

type limitCursor[T any] struct {
	*input[T]
	n      int
	closed bool
}

func (c *limitCursor[T]) next(ctx context.Context) (v T, err error) {
	if c.input.n >= uint64(c.n) {
		c.close() // an unused input must not block the branches of a fork
		return v, io.EOF
	}
	return c.input.next(ctx)
}

func (c *limitCursor[T]) close() {
	if !c.closed {
		c.closed = true
		c.input.close()
	}
}
