package stream

import (
	"context"
	"encoding/binary"
	"io"
)

// Expand replaces each element by the elements of a source that f returns for it, such
// as the lines of a file or the members of an archive. name describes them in messages.
// Its state is the state of its input before the current element, and the position in
// that element's source. [Live] sources cannot be resumed in the middle.
func Expand[T, U any](s Stream[T], name string, f func(ctx context.Context, v T) (Source[U], error)) Stream[U] {
	return Stream[U]{&expandNode[T, U]{name, s, f}}
}

// FlatMap replaces each element by any number of others.
func FlatMap[T, U any](s Stream[T], f func(ctx context.Context, v T) ([]U, error)) Stream[U] {
	return Expand(s, "flat-map", func(ctx context.Context, v T) (Source[U], error) {
		all, err := f(ctx, v)
		return sliceSource(all), err
	})
}

// Unbatch returns the elements of batches one by one.
func Unbatch[T any](s Stream[[]T]) Stream[T] { return unbatched(s, "unbatch") }

func unbatched[T any](s Stream[[]T], name string) Stream[T] {
	return Stream[T]{&expandNode[[]T, T]{name, s, nil}}
}

type expandNode[T, U any] struct {
	name string
	in   Stream[T]
	f    func(context.Context, T) (Source[U], error) // nil: an element is a slice
}

func (e *expandNode[T, U]) describe(s *shape) {
	s.op(e.name)
	if e.f != nil {
		s.function()
	}
	s.input(e.in.of().describe)
}

func (e *expandNode[T, U]) open(o *opening) (cursor[U], error) {
	c := &expandCursor[T, U]{of: e, ctx: o.ctx, made: o.marks.number(), at: o.marks.number()}
	in, err := openInput(o, e.in)
	if err != nil {
		return nil, err
	}
	c.in, c.before = in, in.mark(nil)
	return c, nil
}

// expandCursor is a position within an element, or between two.
type expandCursor[T, U any] struct {
	of       *expandNode[T, U]
	ctx      context.Context
	in       *input[T]
	before   []byte // mark of the input before the current element
	feed     Feed[U]
	made, at uint64 // of the current element: how many were returned, and the position of its source
}

func (c *expandCursor[T, U]) next(ctx context.Context) (u U, err error) {
	for {
		if c.feed == nil {
			if err := c.enter(ctx); err != nil {
				return u, err
			}
		}
		u, err = c.feed.Next(ctx)
		if err == nil {
			c.made++
			if p, ok := c.feed.(Positioned); ok {
				c.at = uint64(p.Position())
			}
			return u, nil
		}
		if err != io.EOF { //nolint:errorlint // an EOF that is wrapped is an error
			return u, c.in.wrong(c.of.name, err)
		}
		if err := c.leave(); err != nil {
			return u, c.in.wrong(c.of.name, err)
		}
	}
}

// enter opens the source of the next element, at the position of the state if there is
// one.
func (c *expandCursor[T, U]) enter(ctx context.Context) error {
	if c.made == 0 {
		c.before = c.in.mark(c.before[:0])
	}
	v, err := c.in.next(ctx)
	if err != nil && c.made > 0 {
		return again(err)
	}
	if err != nil {
		return err
	}
	if err := c.begin(ctx, v); err != nil {
		return c.in.wrong(c.of.name, err)
	}
	return nil
}

func (c *expandCursor[T, U]) begin(ctx context.Context, v T) (err error) {
	if c.of.f == nil {
		c.feed = &sliceFeed[U]{any(v).([]U), int(min(c.made, uint64(len(any(v).([]U)))))}
		return nil
	}
	source, err := c.of.f(ctx, v)
	if err != nil {
		return err
	}
	from, skip := int64(0), c.made
	switch {
	case source.Kind == Seeks:
		from, skip = int64(c.at), 0
	case source.Kind == Live && c.made > 0:
		return ErrLive
	}
	if c.feed, err = source.Open(c.ctx, from); err != nil {
		return opened(err)
	}
	for ; skip > 0; skip-- {
		if _, err := c.feed.Next(ctx); err != nil {
			return again(err)
		}
	}
	return nil
}

// leave ends the current element.
func (c *expandCursor[T, U]) leave() error {
	err := c.feed.Close()
	c.feed, c.made, c.at = nil, 0, 0
	return err
}

func (c *expandCursor[T, U]) mark(to []byte) []byte {
	to = binary.AppendUvarint(binary.AppendUvarint(to, c.made), c.at)
	return append(to, c.before...)
}

func (c *expandCursor[T, U]) close() {
	if c.feed != nil {
		_ = c.feed.Close() // the element was read completely
	}
	c.in.close()
}

func sliceSource[U any](all []U) Source[U] {
	return Source[U]{Kind: Seeks, Open: func(_ context.Context, from int64) (Feed[U], error) {
		return &sliceFeed[U]{all, int(min(from, int64(len(all))))}, nil
	}}
}

type sliceFeed[U any] struct {
	all []U
	at  int
}

func (f *sliceFeed[U]) Next(context.Context) (u U, err error) {
	if f.at >= len(f.all) {
		return u, io.EOF
	}
	f.at++
	return f.all[f.at-1], nil
}

func (f *sliceFeed[U]) Position() int64 { return int64(f.at) }
func (f *sliceFeed[U]) Close() error    { return nil }
