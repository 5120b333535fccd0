package stream

import "context"

// Filter omits elements for which keep returns false. Its state is that of its input.
func Filter[T any](s Stream[T], keep func(ctx context.Context, v T) (bool, error)) Stream[T] {
	return Stream[T]{&filterNode[T]{s, keep}}
}

type filterNode[T any] struct {
	in   Stream[T]
	keep func(context.Context, T) (bool, error)
}

func (f *filterNode[T]) describe(s *shape) {
	s.op("filter")
	s.function()
	s.input(f.in.of().describe)
}

func (f *filterNode[T]) open(o *opening) (cursor[T], error) {
	in, err := openInput(o, f.in)
	if err != nil {
		return nil, err
	}
	return &filterCursor[T]{in, f.keep}, nil
}

type filterCursor[T any] struct {
	*input[T]
	keep func(context.Context, T) (bool, error)
}

func (c *filterCursor[T]) next(ctx context.Context) (T, error) {
	for {
		v, err := c.input.next(ctx)
		if err != nil {
			return v, err
		}
		ok, err := c.keep(ctx, v)
		if err != nil {
			return v, c.wrong("filter", err)
		}
		if ok {
			return v, nil
		}
	}
}
