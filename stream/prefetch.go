package stream

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// Ahead says how much is read ahead.
type Ahead struct {
	// Elements is how many wait to be taken at most, 16 if it is 0.
	Elements int
	// Bytes is what these take at most, 256 MiB if it is 0. One element is read beyond
	// that, as its size is known only then.
	Bytes int64
}

const (
	defaultAhead      = 16
	defaultAheadBytes = 256 << 20
)

// Prefetch reads its input ahead, in a goroutine of its own. size says what an element
// takes, in bytes; a nil one knows that of []byte, string and []string, and takes 64 for
// others. The state is that of the input
// behind the last element that was taken.
func Prefetch[T any](s Stream[T], a Ahead, size func(T) int64) Stream[T] {
	if a.Elements < 0 || a.Bytes < 0 || a.Elements > 1<<20 {
		return refused[T]("prefetch", "%d elements and %d bytes are no bounds; up to 2^20 elements can be read ahead", a.Elements, a.Bytes)
	}
	if a.Elements == 0 {
		a.Elements = defaultAhead
	}
	if a.Bytes == 0 {
		a.Bytes = defaultAheadBytes
	}
	if size == nil {
		size = sizeOf[T]
	}
	return Stream[T]{&prefetchNode[T]{s, a, size}}
}

// sizeOf is about what a value takes in memory.
func sizeOf[T any](v T) int64 {
	const least = 64
	switch v := any(v).(type) {
	case []byte:
		return least + int64(len(v))
	case string:
		return least + int64(len(v))
	case []string:
		n := int64(least)
		for _, s := range v {
			n += 16 + int64(len(s))
		}
		return n
	}
	return least
}

type prefetchNode[T any] struct {
	in    Stream[T]
	ahead Ahead
	size  func(T) int64
}

// describe does not tell of the bounds, which change nothing about the elements.
func (p *prefetchNode[T]) describe(s *shape) {
	s.op("prefetch")
	s.input(p.in.of().describe)
}

func (p *prefetchNode[T]) sharded(i, n int) node[T] {
	return &prefetchNode[T]{Shard(p.in, i, n), p.ahead, p.size}
}

func (p *prefetchNode[T]) open(o *opening) (cursor[T], error) {
	l, err := newLine[T, T](o, p.in, p.ahead.Elements)
	if err != nil {
		return nil, err
	}
	return &prefetchCursor[T]{l, p, semaphore.NewWeighted(p.ahead.Bytes)}, nil
}

type prefetchCursor[T any] struct {
	*line[T, T]
	of    *prefetchNode[T]
	bytes *semaphore.Weighted
}

func (c *prefetchCursor[T]) next(ctx context.Context) (T, error) {
	if !c.begun {
		c.begun = true
		c.work.Go(func() { c.fill(c.send) })
	}
	v, bytes, err := c.take(ctx)
	c.bytes.Release(bytes)
	return v, err
}

// send waits until an element has room beside the others; one that is larger than all
// room goes when the others have gone.
func (c *prefetchCursor[T]) send(s *slot[T, T]) error {
	s.out = s.in
	s.bytes = min(max(c.of.size(s.in), 0), c.of.ahead.Bytes)
	if err := c.bytes.Acquire(c.ctx, s.bytes); err != nil {
		return context.Cause(c.ctx)
	}
	s.done <- struct{}{}
	return nil
}
