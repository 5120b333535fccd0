package stream

import "context"

// Map applies f to each element. Its state is that of its input. A [Shard] of it
// computes only its own elements.
func Map[T, U any](s Stream[T], f func(ctx context.Context, v T) (U, error)) Stream[U] {
	return MapAs(s, "map", f)
}

// MapAs is [Map] with a name for messages and states. If the name describes the function
// and its parameters, states of other functions are refused.
func MapAs[T, U any](s Stream[T], name string, f func(ctx context.Context, v T) (U, error)) Stream[U] {
	if name == "" {
		return refused[U]("map", "it needs a name")
	}
	return Stream[U]{&mapNode[T, U]{name, s, f}}
}

type mapNode[T, U any] struct {
	name string
	in   Stream[T]
	f    func(context.Context, T) (U, error)
}

func (m *mapNode[T, U]) describe(s *shape) {
	s.op(m.name)
	s.function()
	s.input(m.in.of().describe)
}

func (m *mapNode[T, U]) sharded(i, n int) node[U] {
	return &mapNode[T, U]{m.name, Shard(m.in, i, n), m.f}
}

func (m *mapNode[T, U]) open(o *opening) (cursor[U], error) {
	in, err := openInput(o, m.in)
	if err != nil {
		return nil, err
	}
	return &mapCursor[T, U]{in, m}, nil
}

type mapCursor[T, U any] struct {
	*input[T]
	of *mapNode[T, U]
}

func (c *mapCursor[T, U]) next(ctx context.Context) (u U, err error) {
	v, err := c.input.next(ctx)
	if err != nil {
		return u, err
	}
	if u, err = c.of.f(ctx, v); err != nil {
		return u, c.wrong(c.of.name, err)
	}
	return u, nil
}
