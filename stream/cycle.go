package stream

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
)

// Cycle reads a stream times times, or forever if times is 0. A pass without elements is
// the last one. Its state is the number of the pass, and the state of its input.
func Cycle[T any](s Stream[T], times int) Stream[T] {
	if times < 0 {
		return refused[T]("cycle", "a stream cannot be read %d times", times)
	}
	return Stream[T]{&cycleNode[T]{s, uint64(times)}}
}

type cycleNode[T any] struct {
	in    Stream[T]
	times uint64
}

func (y *cycleNode[T]) describe(s *shape) {
	s.op("cycle", param("times", y.times))
	s.input(y.in.of().describe)
}

func (y *cycleNode[T]) open(o *opening) (cursor[T], error) {
	pass := o.marks.number()
	in, err := openInput(o, y.in)
	if err != nil {
		return nil, err
	}
	return &cycleCursor[T]{y, o, pass, in}, nil
}

type cycleCursor[T any] struct {
	of   *cycleNode[T]
	o    *opening
	pass uint64
	in   *input[T]
}

func (c *cycleCursor[T]) next(ctx context.Context) (T, error) {
	for {
		v, err := c.in.next(ctx)
		if !errors.Is(err, io.EOF) {
			return v, err
		}
		if c.in.n == 0 || c.pass+1 == c.of.times {
			return v, io.EOF
		}
		in, err := openInput(c.o.fresh(), c.of.in)
		if err != nil {
			return v, err
		}
		c.in.close()
		c.in = in
		c.pass++
	}
}

func (c *cycleCursor[T]) mark(to []byte) []byte {
	return c.in.mark(binary.AppendUvarint(to, c.pass))
}

func (c *cycleCursor[T]) close() { c.in.close() }
