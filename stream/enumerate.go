package stream

import "context"

// An Indexed is an element with a number.
type Indexed[T any] struct {
	Index int
	Value T
}

// Enumerate numbers elements, starting with first. Its state is that of its input.
func Enumerate[T any](s Stream[T], first int) Stream[Indexed[T]] {
	return Stream[Indexed[T]]{&enumerateNode[T]{s, first}}
}

type enumerateNode[T any] struct {
	in    Stream[T]
	first int
}

func (e *enumerateNode[T]) describe(s *shape) {
	s.op("enumerate", param("first", e.first))
	s.input(e.in.of().describe)
}

func (e *enumerateNode[T]) open(o *opening) (cursor[Indexed[T]], error) {
	in, err := openInput(o, e.in)
	if err != nil {
		return nil, err
	}
	return &enumerateCursor[T]{in, e.first}, nil
}

type enumerateCursor[T any] struct {
	*input[T]
	first int
}

func (c *enumerateCursor[T]) next(ctx context.Context) (Indexed[T], error) {
	v, err := c.input.next(ctx)
	return Indexed[T]{c.first + int(c.n) - 1, v}, err
}
