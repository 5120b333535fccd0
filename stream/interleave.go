package stream

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"

	"github.com/larder-data/larder/order"
)

// Mixing configures [Interleave].
type Mixing struct {
	// Weights, one for each stream, are sampling weights. The choice is random: a function
	// of Seed and the number of draws before. Without weights, streams take turns.
	Weights []float64
	Seed    uint64
	// Longest continues without the streams that have ended, to the end of the last.
	// Otherwise the first chosen stream that has ended is the end.
	Longest bool
}

// Interleave takes elements of several streams. Its state is the states of all of them,
// which of them have ended, and the number of turns or draws.
func Interleave[T any](m Mixing, parts ...Stream[T]) Stream[T] {
	if len(m.Weights) > 0 && len(m.Weights) != len(parts) {
		return refused[T]("interleave", "there are %d weights for %d streams", len(m.Weights), len(parts))
	}
	for _, w := range m.Weights {
		if !(w > 0) || math.IsInf(w, 0) {
			return refused[T]("interleave", "a weight is %v and must be above 0", w)
		}
	}
	return Stream[T]{&interleaveNode[T]{m, parts}}
}

type interleaveNode[T any] struct {
	Mixing
	parts []Stream[T]
}

func (i *interleaveNode[T]) describe(s *shape) {
	s.op("interleave", param("parts", len(i.parts)), param("weights", i.Weights), param("seed", i.Seed), param("longest", i.Longest))
	for _, p := range i.parts {
		s.input(p.of().describe)
	}
}

func (i *interleaveNode[T]) open(o *opening) (cursor[T], error) {
	c := &interleaveCursor[T]{of: i, turns: o.marks.number(), left: len(i.parts), ended: make([]bool, len(i.parts))}
	for k, p := range i.parts {
		if o.marks.number() > 0 {
			c.ended[k] = true
			c.left--
		}
		in, err := openInput(o, p)
		if err != nil {
			c.close()
			return nil, err
		}
		c.in = append(c.in, in)
	}
	if !i.Longest && c.left < len(i.parts) {
		c.left = 0
	}
	return c, nil
}

type interleaveCursor[T any] struct {
	of    *interleaveNode[T]
	in    []*input[T]
	ended []bool
	left  int // streams that have not ended
	turns uint64
}

func (c *interleaveCursor[T]) next(ctx context.Context) (v T, err error) {
	for c.left > 0 {
		k := c.whose()
		c.turns++
		if c.ended[k] {
			continue
		}
		v, err := c.in[k].next(ctx)
		if !errors.Is(err, io.EOF) {
			return v, err
		}
		c.ended[k] = true
		if c.left--; !c.of.Longest {
			c.left = 0
		}
	}
	return v, io.EOF
}

// whose returns the stream to read next.
func (c *interleaveCursor[T]) whose() int {
	if len(c.of.Weights) == 0 {
		return int(c.turns % uint64(len(c.in)))
	}
	sum := 0.0
	for k, w := range c.of.Weights {
		if !c.ended[k] {
			sum += w
		}
	}
	at, last := order.Uniform(c.of.Seed, int(c.turns))*sum, 0
	for k, w := range c.of.Weights {
		if c.ended[k] {
			continue
		}
		if at < w {
			return k
		}
		at, last = at-w, k
	}
	return last
}

func (c *interleaveCursor[T]) mark(to []byte) []byte {
	to = binary.AppendUvarint(to, c.turns)
	for k, in := range c.in {
		ended := uint64(0)
		if c.ended[k] {
			ended = 1
		}
		to = in.mark(binary.AppendUvarint(to, ended))
	}
	return to
}

func (c *interleaveCursor[T]) close() {
	for _, in := range c.in {
		in.close()
	}
}
