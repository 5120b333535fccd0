package stream

import (
	"context"
	"encoding/binary"
	"errors"
	"io"

	"github.com/larder-data/larder/order"
)

// Shuffle hands out elements in a random order, each drawn from the next size ones that
// have not been handed out. What is drawn is a function of seed and of how many elements
// came before. Give each pass over the data another seed, such as
// [order.EpochSeed] makes.
//
// Its state is how many elements it has handed out and where its input was before the
// oldest one that it holds; which elements it holds follows from that, so the input is
// read again from there: in the mean over some size times the logarithm of size elements.
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

// An anchor is where the input can be read again.
type anchor struct {
	at   uint64
	mark []byte
}

type shuffleCursor[T any] struct {
	of      *shuffleNode[T]
	in      *input[T]
	buffer  []held[T]
	hole    int    // the place that was drawn last and is yet to be filled, or -1
	made    uint64 // elements handed out
	total   uint64 // 1 + those of the input, once it has ended
	again   bool   // the buffer is to be made again
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

// draw returns the place of the element that is handed out after made others, of n.
func (u *shuffleNode[T]) draw(made uint64, n int) int {
	return min(int(order.Uniform(u.seed, int(made))*float64(n)), n-1)
}

// fill puts elements into all places that have none, as long as there are any.
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
	if c.hole >= 0 { // the last one takes its place
		was, last := c.buffer[c.hole].at, len(c.buffer)-1
		c.buffer[c.hole], c.buffer[last] = c.buffer[last], held[T]{}
		c.buffer = c.buffer[:last]
		c.left(was)
	}
	return nil
}

// read reads an element, and takes an anchor before some of them.
func (c *shuffleCursor[T]) read(ctx context.Context) (held[T], error) {
	const least = 64
	if at := c.in.n; at-c.anchors[len(c.anchors)-1].at >= uint64(max(c.of.size, least)) {
		c.anchors = append(c.anchors, anchor{at, c.in.mark(nil)})
	}
	at := c.in.n
	v, err := c.in.next(ctx)
	return held[T]{at, v}, err
}

// left says that the place of an element has been taken.
func (c *shuffleCursor[T]) left(at uint64) {
	c.hole = -1
	if at == c.oldest {
		c.age()
	}
}

// age finds the oldest element, and lets anchors go that are not needed for it.
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
