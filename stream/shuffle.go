package stream

import (
	"context"
	"encoding/binary"
	"errors"
	"io"

	"github.com/larder-data/larder/order"
)

// Shuffle returns elements in a random order. Each is drawn from the next size elements
// that have not been returned. A draw is a function of seed and of the number of
// elements before. Use a different seed for each pass over the data, for example
// [order.EpochSeed].
//
// Its state is the number of returned elements, and the position of its input before the
// oldest element that it holds. These determine the elements that it holds, so the input
// is read again from there. On average that is about size times the logarithm of size
// elements.
func Shuffle[T any](s Stream[T], size int, seed uint64) Stream[T] {
	if size < 1 {
		return refused[T]("shuffle", "it cannot draw from %d elements", size)
	}
	return Stream[T]{&shuffleNode[T]{s, size, seed}}
}

type shuffleNode[T any] struct {
	in   Stream[T]
	size int
	seed uint64
}

func (u *shuffleNode[T]) describe(s *shape) {
	s.op("shuffle", param("size", u.size), param("seed", u.seed))
	s.input(u.in.of().describe)
}

func (u *shuffleNode[T]) open(o *opening) (cursor[T], error) {
	c := &shuffleCursor[T]{of: u, hole: -1}
	c.made, c.total = o.marks.number(), o.marks.number()
	in, err := openInput(o, u.in)
	if err != nil {
		return nil, err
	}
	c.in, c.again = in, c.made > 0
	c.anchors = []anchor{{in.n, in.mark(nil)}}
	return c, nil
}

// A held is an element of the buffer, with its position in the input.
type held[T any] struct {
	at    uint64
	value T
}

// An anchor is a position from which the input can be read again.
type anchor struct {
	at   uint64
	mark []byte
}

type shuffleCursor[T any] struct {
	of      *shuffleNode[T]
	in      *input[T]
	buffer  []held[T]
	hole    int    // the buffer position drawn last and not filled yet, or -1
	made    uint64 // elements returned
	total   uint64 // 1 + the number of input elements, once it has ended
	again   bool   // the buffer must be restored
	anchors []anchor
	oldest  uint64 // position of the oldest element in the buffer
}

func (c *shuffleCursor[T]) next(ctx context.Context) (v T, err error) {
	if c.again {
		if err := c.restore(ctx); err != nil {
			return v, err
		}
		c.again = false
	}
	if err := c.fill(ctx); err != nil {
		return v, err
	}
	if len(c.buffer) == 0 {
		return v, io.EOF
	}
	c.hole = c.of.draw(c.made, len(c.buffer))
	v = c.buffer[c.hole].value
	c.made++
	return v, nil
}

// draw returns the buffer position, of n, of the element that is returned after made
// others.
func (u *shuffleNode[T]) draw(made uint64, n int) int {
	return min(int(order.Uniform(u.seed, int(made))*float64(n)), n-1)
}

// fill fills the empty buffer positions while the input has elements.
func (c *shuffleCursor[T]) fill(ctx context.Context) error {
	for c.total == 0 && (c.hole >= 0 || len(c.buffer) < c.of.size) {
		e, err := c.read(ctx)
		if errors.Is(err, io.EOF) {
			c.total = c.in.n + 1
			break
		}
		if err != nil {
			return err
		}
		if c.hole < 0 {
			c.buffer = append(c.buffer, e)
			continue
		}
		was := c.buffer[c.hole].at
		c.buffer[c.hole] = e
		c.left(was)
	}
	if c.hole >= 0 { // move the last element there
		was, last := c.buffer[c.hole].at, len(c.buffer)-1
		c.buffer[c.hole], c.buffer[last] = c.buffer[last], held[T]{}
		c.buffer = c.buffer[:last]
		c.left(was)
	}
	return nil
}

// read reads an element, and records an anchor before some of them.
func (c *shuffleCursor[T]) read(ctx context.Context) (held[T], error) {
	const least = 64
	if at := c.in.n; at-c.anchors[len(c.anchors)-1].at >= uint64(max(c.of.size, least)) {
		c.anchors = append(c.anchors, anchor{at, c.in.mark(nil)})
	}
	at := c.in.n
	v, err := c.in.next(ctx)
	return held[T]{at, v}, err
}

// left records that an element has left the buffer.
func (c *shuffleCursor[T]) left(at uint64) {
	c.hole = -1
	if at == c.oldest {
		c.age()
	}
}

// age finds the oldest element, and drops anchors that it does not need.
func (c *shuffleCursor[T]) age() {
	if len(c.buffer) == 0 {
		return
	}
	c.oldest = c.buffer[0].at
	for _, e := range c.buffer {
		c.oldest = min(c.oldest, e.at)
	}
	for len(c.anchors) > 1 && c.anchors[1].at <= c.oldest {
		c.anchors = c.anchors[1:]
	}
}

func (c *shuffleCursor[T]) mark(to []byte) []byte {
	to = binary.AppendUvarint(to, c.made)
	to = binary.AppendUvarint(to, c.total)
	return append(to, c.anchors[0].mark...)
}

func (c *shuffleCursor[T]) close() { c.in.close() }
