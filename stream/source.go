package stream

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A Source provides the elements of a stream.
type Source[T any] struct {
	// Name identifies the source in messages, and is part of states.
	Name string
	// Identity identifies the content, for example by the digest of a file; "" means
	// unknown. It is part of states, and of the keys of [Materialise].
	Identity string
	Kind     Kind
	// Open begins to read. A source that seeks begins at from, a position that its feed
	// returned, or 0 for the beginning. Other sources receive 0.
	Open func(ctx context.Context, from int64) (Feed[T], error)
}

// A Feed reads a source, for one goroutine at a time. Next returns io.EOF at the end,
// and is not called after an error. It must return when its context ends.
type Feed[T any] interface {
	Next(ctx context.Context) (T, error)
	Close() error
}

// Positioned is implemented by feeds of sources that seek. Position is after the last
// element that Next returned, and at least 0.
type Positioned interface{ Position() int64 }

// Skipper is implemented by feeds of sources that replay, if skipping elements is faster
// than returning them. Skip skips at most n elements, at least one, and returns how
// many. If fewer than n are left, it returns io.EOF.
type Skipper interface {
	Skip(ctx context.Context, n uint64) (passed uint64, err error)
}

// Kind says how a source is read again.
type Kind int

// The kinds.
const (
	// Replays: the source can be read again from its beginning, with the same elements. A
	// state counts them, and a resumed reader skips as many.
	Replays Kind = iota
	// Seeks: the source can be read from any position, which the state holds.
	Seeks
	// Live: the source can be read only once, for example standard input. Its states are
	// refused.
	Live
)

// ErrLive is the error of a state of a source that cannot be read again.
var ErrLive = errors.New("what was read of it cannot be read again, so no state of it can be resumed; save it to a file first, or materialise the stream")

// From returns the stream of a source.
func From[T any](s Source[T]) Stream[T] {
	if s.Open == nil || s.Name == "" {
		return refused[T]("source", "it needs a name and a function that opens it")
	}
	return Stream[T]{&sourceNode[T]{s}}
}

type sourceNode[T any] struct{ Source[T] }

func (s *sourceNode[T]) describe(sh *shape) {
	sh.op("source", param("name", s.Name), param("identity", s.Identity), param("kind", int(s.Kind)))
	if s.Identity == "" {
		sh.unknown = append(sh.unknown, "the source "+s.Name+", which has no identity")
	}
}

func (s *sourceNode[T]) open(o *opening) (cursor[T], error) {
	c := &sourceCursor[T]{source: s.Source, ctx: o.ctx, n: o.marks.number()}
	switch s.Kind {
	case Seeks:
		c.at = int64(o.marks.number())
	case Live:
		if c.n > 0 {
			return nil, fmt.Errorf("source %s: %w", s.Name, ErrLive)
		}
	default:
		c.skip = c.n
	}
	return c, nil
}

// sourceCursor opens its source when the first element is requested.
type sourceCursor[T any] struct {
	source Source[T]
	ctx    context.Context
	feed   Feed[T]
	n      uint64 // elements so far
	skip   uint64 // how many of them to skip
	at     int64

	positioned Positioned // the feed, if it implements Positioned
}

func (c *sourceCursor[T]) next(ctx context.Context) (v T, err error) {
	if ctx.Err() != nil {
		return v, context.Cause(ctx)
	}
	if c.feed == nil {
		feed, err := c.source.Open(c.ctx, c.at)
		if err != nil {
			return v, c.wrong(c.n, opened(err))
		}
		c.feed = feed
		c.positioned, _ = c.feed.(Positioned)
		if c.source.Kind == Seeks && c.positioned == nil {
			return v, c.wrong(c.n, errors.New("Kind is Seeks, but the feed has no Position method; add the method, or set Replays"))
		}
	}
	for c.skip > 0 {
		passed, err := c.pass(ctx)
		if c.skip -= min(passed, c.skip); err != nil {
			return v, c.wrong(c.n-c.skip, again(err))
		}
	}
	if v, err = c.feed.Next(ctx); err != nil {
		return v, c.wrong(c.n, err)
	}
	c.n++
	if c.positioned != nil {
		c.at = c.positioned.Position()
	}
	return v, nil
}

// pass skips elements: one, or as many as the feed skips in one call.
func (c *sourceCursor[T]) pass(ctx context.Context) (passed uint64, err error) {
	if s, ok := c.feed.(Skipper); ok {
		return s.Skip(ctx, c.skip)
	}
	if _, err = c.feed.Next(ctx); err == nil {
		passed = 1
	}
	return passed, err
}

func (c *sourceCursor[T]) wrong(at uint64, err error) error {
	if err == io.EOF { //nolint:errorlint // an EOF that is wrapped is an error of what is read
		return err
	}
	return wrongAt("source "+c.source.Name, at, err)
}

func (c *sourceCursor[T]) mark(to []byte) []byte {
	to = binary.AppendUvarint(to, c.n)
	if c.source.Kind == Seeks {
		to = binary.AppendUvarint(to, uint64(c.at))
	}
	return to
}

func (c *sourceCursor[T]) close() {
	if c.feed != nil {
		_ = c.feed.Close() // the source was read completely
		c.feed = nil
	}
}

// opened returns an error of opening, which is never io.EOF.
func opened(err error) error { return fmt.Errorf("it cannot be opened: %w", err) }
