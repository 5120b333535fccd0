package stream

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
)

// Concat returns the elements of its parts in sequence. Its state is the index of the
// current part, and the state of that part.
func Concat[T any](parts ...Stream[T]) Stream[T] { return Stream[T]{concatNode[T](parts)} }

type concatNode[T any] []Stream[T]

func (p concatNode[T]) describe(s *shape) {
	s.op("concat", param("parts", len(p)))
	for _, part := range p {
		s.input(part.of().describe)
	}
}

func (p concatNode[T]) open(o *opening) (cursor[T], error) {
	c := &concatCursor[T]{parts: p, o: o, k: o.marks.below(len(p))}
	if len(p) == 0 {
		return c, nil
	}
	in, err := openInput(o, p[c.k])
	c.in = in
	return c, err
}

type concatCursor[T any] struct {
	parts []Stream[T]
	o     *opening
	k     int
	in    *input[T] // nil if there is no part
}

func (c *concatCursor[T]) next(ctx context.Context) (v T, err error) {
	for c.in != nil {
		if v, err = c.in.next(ctx); !errors.Is(err, io.EOF) || c.k+1 == len(c.parts) {
			return v, err
		}
		in, err := openInput(c.o.fresh(), c.parts[c.k+1])
		if err != nil {
			return v, err
		}
		c.in.close()
		c.in = in
		c.k++
	}
	return v, io.EOF
}

func (c *concatCursor[T]) mark(to []byte) []byte {
	to = binary.AppendUvarint(to, uint64(c.k))
	if c.in != nil {
		to = c.in.mark(to)
	}
	return to
}

func (c *concatCursor[T]) close() {
	if c.in != nil {
		c.in.close()
	}
}
