package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// A Pair holds an element of each of two streams.
type Pair[A, B any] struct {
	A A
	B B
	// NoA and NoB say that one stream has no element here, as the other is longer: see
	// [ZipLongest].
	NoA, NoB bool
}

// Zip pairs elements at the same position, and ends with the shorter stream. Its state
// is that of both.
func Zip[A, B any](a Stream[A], b Stream[B]) Stream[Pair[A, B]] {
	return Stream[Pair[A, B]]{&zipNode[A, B]{"zip", a, b}}
}

// ZipEqual is [Zip] for streams that must end together; otherwise the end of one is an
// error.
func ZipEqual[A, B any](a Stream[A], b Stream[B]) Stream[Pair[A, B]] {
	return Stream[Pair[A, B]]{&zipNode[A, B]{"zip-equal", a, b}}
}

// ZipLongest is [Zip], but ends with the longer stream.
func ZipLongest[A, B any](a Stream[A], b Stream[B]) Stream[Pair[A, B]] {
	return Stream[Pair[A, B]]{&zipNode[A, B]{"zip-longest", a, b}}
}

type zipNode[A, B any] struct {
	name string
	a    Stream[A]
	b    Stream[B]
}

func (z *zipNode[A, B]) describe(s *shape) {
	s.op(z.name)
	s.input(z.a.of().describe)
	s.input(z.b.of().describe)
}

func (z *zipNode[A, B]) open(o *opening) (cursor[Pair[A, B]], error) {
	two, err := openTwo(o, z.a, z.b)
	if err != nil {
		return nil, err
	}
	return &zipCursor[A, B]{two: two, name: z.name}, nil
}

// two reads two inputs in parallel positions.
type two[A, B any] struct {
	a *input[A]
	b *input[B]
}

func openTwo[A, B any](o *opening, a Stream[A], b Stream[B]) (*two[A, B], error) {
	ia, err := openInput(o, a)
	if err != nil {
		return nil, err
	}
	ib, err := openInput(o, b)
	if err != nil {
		ia.close()
		return nil, err
	}
	return &two[A, B]{ia, ib}, nil
}

func (t *two[A, B]) mark(to []byte) []byte { return t.b.mark(t.a.mark(to)) }

func (t *two[A, B]) close() {
	t.a.close()
	t.b.close()
}

type zipCursor[A, B any] struct {
	*two[A, B]
	name string
}

func (c *zipCursor[A, B]) next(ctx context.Context) (p Pair[A, B], err error) {
	p.A, p.NoA, err = oneOf(ctx, c.a)
	if err != nil || p.NoA && c.name == "zip" {
		return p, orEnd(err)
	}
	p.B, p.NoB, err = oneOf(ctx, c.b)
	if err != nil || p.NoB && (p.NoA || c.name == "zip") {
		return p, orEnd(err)
	}
	if c.name == "zip-equal" && p.NoA != p.NoB {
		return p, wrongAt(c.name, min(c.a.n, c.b.n), fmt.Errorf("one stream ends before the other (the first has %d elements, the second %d, or more); use Zip to end with the shorter one", c.a.n, c.b.n))
	}
	return p, nil
}

// oneOf returns the next element of a stream that may have ended.
func oneOf[T any](ctx context.Context, in *input[T]) (v T, none bool, err error) {
	v, err = in.next(ctx)
	if errors.Is(err, io.EOF) {
		return v, true, nil
	}
	return v, false, err
}

// orEnd returns err, or else io.EOF.
func orEnd(err error) error {
	if err == nil {
		return io.EOF
	}
	return err
}
