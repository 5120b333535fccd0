package stream

import (
	"context"
	"encoding/binary"
)

// Repeat returns each element times times in sequence. Its state is the state of its
// input before the current element, and how often that was returned.
func Repeat[T any](s Stream[T], times int) Stream[T] {
	if times < 1 {
		return refused[T]("repeat", "an element cannot be there %d times", times)
	}
	return Stream[T]{&repeatNode[T]{s, uint64(times)}}
}

type repeatNode[T any] struct {
	in    Stream[T]
	times uint64
}

func (r *repeatNode[T]) describe(s *shape) {
	s.op("repeat", param("times", r.times))
	s.input(r.in.of().describe)
}

func (r *repeatNode[T]) open(o *opening) (cursor[T], error) {
	done := o.marks.number()
	in, err := openInput(o, r.in)
	if err != nil {
		return nil, err
	}
	return &repeatCursor[T]{input: in, times: r.times, done: done, before: in.mark(nil)}, nil
}

type repeatCursor[T any] struct {
	*input[T]
	times, done uint64
	have        bool
	value       T
	before      []byte
}

func (c *repeatCursor[T]) next(ctx context.Context) (v T, err error) {
	if c.done >= c.times {
		c.done, c.have = 0, false
	}
	if !c.have {
		c.before = c.input.mark(c.before[:0])
		if c.value, err = c.input.next(ctx); err != nil {
			return v, err
		}
		c.have = true
	}
	c.done++
	return c.value, nil
}

func (c *repeatCursor[T]) mark(to []byte) []byte {
	if c.done == c.times {
		return c.input.mark(binary.AppendUvarint(to, 0))
	}
	return append(binary.AppendUvarint(to, c.done), c.before...)
}
