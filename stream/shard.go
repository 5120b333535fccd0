package stream

import "context"

// Shard returns every n-th element, starting with element i, so n shards have each
// element once. It skips elements as early as possible. Values in memory and elements of
// datasets of other shards are not read, and a [Map] below does not compute them or
// return their errors. All other inputs are read to the end. Its state is that of its
// input.
func Shard[T any](s Stream[T], i, n int) Stream[T] {
	if n < 1 || i < 0 || i >= n {
		return refused[T]("shard", "there is no shard %d of %d", i, n)
	}
	if e, ok := s.of().(interface{ sharded(i, n int) node[T] }); ok {
		return Stream[T]{e.sharded(i, n)}
	}
	return Stream[T]{&shardNode[T]{s, uint64(i), uint64(n)}}
}

type shardNode[T any] struct {
	in   Stream[T]
	i, n uint64
}

func (h *shardNode[T]) describe(s *shape) {
	s.op("shard", param("i", h.i), param("n", h.n))
	s.input(h.in.of().describe)
}

func (h *shardNode[T]) open(o *opening) (cursor[T], error) {
	in, err := openInput(o, h.in)
	if err != nil {
		return nil, err
	}
	return &shardCursor[T]{in, h}, nil
}

type shardCursor[T any] struct {
	*input[T]
	of *shardNode[T]
}

func (c *shardCursor[T]) next(ctx context.Context) (T, error) {
	for {
		mine := c.n%c.of.n == c.of.i
		v, err := c.input.next(ctx)
		if err != nil || mine {
			return v, err
		}
	}
}
