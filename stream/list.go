package stream

import (
	"context"
	"encoding/binary"
	"io"
)

// Of returns a stream of values in memory. It seeks.
func Of[T any](values ...T) Stream[T] {
	return Stream[T]{&listNode[T]{name: "values", len: len(values), step: 1, at: func(_ context.Context, i int) (T, error) { return values[i], nil }}}
}

// listNode is a stream with random access: every step-th of len elements, from first on.
// Its state is the number of elements before.
type listNode[T any] struct {
	name, identity   string
	len, first, step int
	at               func(ctx context.Context, i int) (T, error)
}

func (l *listNode[T]) describe(s *shape) {
	s.op(l.name, param("len", l.len), param("first", l.first), param("step", l.step), param("identity", l.identity))
	if l.identity == "" && l.at != nil {
		s.unknown = append(s.unknown, "what "+l.name+" are, which have no identity")
	}
}

// sharded skips the elements of other shards without reading them.
func (l *listNode[T]) sharded(i, n int) node[T] {
	some := *l
	some.first, some.step = l.first+i*l.step, l.step*n
	return &some
}

func (l *listNode[T]) open(o *opening) (cursor[T], error) {
	return &listCursor[T]{l, o.marks.number()}, nil
}

type listCursor[T any] struct {
	list *listNode[T]
	n    uint64
}

func (c *listCursor[T]) next(ctx context.Context) (v T, err error) {
	if ctx.Err() != nil {
		return v, context.Cause(ctx)
	}
	left := uint64(0) // number of elements from first on
	if c.list.len > c.list.first {
		left = uint64((c.list.len - c.list.first + c.list.step - 1) / c.list.step)
	}
	if c.n >= left {
		return v, io.EOF
	}
	i := c.list.first + int(c.n)*c.list.step
	if v, err = c.list.at(ctx, i); err != nil {
		return v, wrongAt(c.list.name, uint64(i), err)
	}
	c.n++
	return v, nil
}

func (c *listCursor[T]) mark(to []byte) []byte { return binary.AppendUvarint(to, c.n) }

func (c *listCursor[T]) close() {}
