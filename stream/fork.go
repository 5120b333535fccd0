package stream

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/larder-data/larder/codec"
)

// Forking bounds what branches of a stream hold while one of them is ahead of another.
type Forking[T any] struct {
	// Elements is the largest number of elements held in memory; 0 means 1000. Bytes bounds
	// their total Size; 0 means 64 MiB. A nil Size is that of [Prefetch]. Further elements
	// are written to a file, and read back later.
	Elements int
	Bytes    int64
	Size     func(T) int64
	// Codec encodes elements; nil means codec.For[T], and [SampleCodec] for samples.
	Codec *codec.Value[T]
	// Dir is the directory of the file; "" means the one for temporary files.
	Dir string
}

const defaultForkBytes = 64 << 20

// Fork returns n streams, each with all elements of s. Branches that are opened
// together, as parts of one stream or by [Together], read the input once, however far
// they drift apart. They share its elements, which must not be changed. A branch that is
// opened separately or later, for example by [Concat] or [Cycle], reads the input
// itself. The state of a branch is the number of elements before it, and the state of
// the input there. If branches are resumed together, the input is read from the position
// of the last one.
func Fork[T any](s Stream[T], n int, f Forking[T]) []Stream[T] {
	return forked(s, n, f, nil)
}

// Route returns n streams and passes each element to the one with the index that to
// returns. Otherwise it is like [Fork].
func Route[T any](s Stream[T], n int, f Forking[T], to func(T) int) []Stream[T] {
	return forked(s, n, f, to)
}

func forked[T any](s Stream[T], n int, f Forking[T], to func(T) int) []Stream[T] {
	branches := make([]Stream[T], max(n, 0))
	var err error
	if f.Codec == nil {
		f.Codec, err = codecFor[T]()
	}
	if f.Elements == 0 {
		f.Elements = 1000
	}
	if f.Bytes == 0 {
		f.Bytes = defaultForkBytes
	}
	if f.Size == nil {
		f.Size = sizeOf[T]
	}
	t := &trunk[T]{in: s, Forking: f, n: n, to: to}
	for i := range branches {
		branches[i] = Stream[T]{&branchNode[T]{t, i}}
		switch {
		case err != nil:
			branches[i] = refused[T]("fork", "elements cannot be written to a file: %w; give a Codec", err)
		case f.Elements < 0 || f.Bytes < 0:
			branches[i] = refused[T]("fork", "a bound is below 0")
		}
	}
	return branches
}

// A trunk is the common part of branches.
type trunk[T any] struct {
	in Stream[T]
	Forking[T]
	n  int
	to func(T) int
}

// whose returns the branch of an element.
func (t *trunk[T]) whose(v T) (int, error) {
	if t.to == nil {
		return 0, nil
	}
	k := t.to(v)
	if k < 0 || k >= t.n {
		return 0, fmt.Errorf("there is no branch %d of %d", k, t.n)
	}
	return k, nil
}

type branchNode[T any] struct {
	trunk *trunk[T]
	i     int
}

func (b *branchNode[T]) describe(s *shape) {
	if b.trunk.to == nil {
		s.op("fork", param("branch", b.i), param("of", b.trunk.n))
	} else {
		s.op("route", param("branch", b.i), param("of", b.trunk.n))
		s.function()
	}
	s.input(b.trunk.in.of().describe)
}

func (b *branchNode[T]) open(o *opening) (cursor[T], error) {
	c := &branchCursor[T]{of: b, at: o.marks.number(), before: o.marks.text()}
	r, ok := o.session.forks[b.trunk].(*reading[T])
	if !ok {
		r = newReading(b.trunk, o.session)
		o.session.forks[b.trunk] = r
	}
	c.shared = r
	r.join(c)
	return c, nil
}

// branchCursor is one branch. Its fields about the reading belong to the reading.
type branchCursor[T any] struct {
	of     *branchNode[T]
	shared *reading[T]
	at     uint64 // number of elements of the input so far
	before []byte // the mark of the input there
	file   place  // of the next element, if it is in a file
	closed bool
}

func (c *branchCursor[T]) next(ctx context.Context) (T, error) {
	for {
		v, whose, err := c.shared.next(ctx, c)
		if err != nil || c.of.trunk.to == nil || whose == c.of.i {
			return v, err
		}
	}
}

// open opens the input at a mark.
func (t *trunk[T]) open(o *opening, mark []byte) (*input[T], error) {
	m := marksOf(mark)
	in, err := openInput(o.later(m), t.in)
	if err == nil && m.end() != nil {
		in.close()
		return nil, m.err
	}
	return in, err
}

func (c *branchCursor[T]) mark(to []byte) []byte {
	return appendText(binary.AppendUvarint(to, c.at), c.before)
}

func (c *branchCursor[T]) close() {
	if c.closed {
		return
	}
	c.closed = true
	c.shared.leave(c)
}
