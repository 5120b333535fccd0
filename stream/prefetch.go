package stream

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// Ahead bounds [Prefetch].
type Ahead struct {
	// Elements is the largest number of waiting elements; 0 means 16.
	Elements int
	// Bytes bounds their total size; 0 means 256 MiB. One element may exceed the bound, as
	// its size is known only after reading.
	Bytes int64
}

const (
	defaultAhead      = 16
	defaultAheadBytes = 256 << 20
)

// Prefetch reads its input ahead, in a goroutine of its own. size returns the bytes that
// an element takes. A nil size handles []byte, string and []string, and assumes 64 bytes
// for other types. The state is that of the input after the last returned element.
func Prefetch[T any](s Stream[T], a Ahead, size func(T) int64) Stream[T] {
	if a.Elements < 0 || a.Bytes < 0 || a.Elements > 1<<20 {
		return refused[T]("prefetch", "%d elements and %d bytes are not valid bounds; use 0 to 2^20 elements", a.Elements, a.Bytes)
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

// sizeOf estimates the memory of a value.
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

// describe omits the bounds, which do not change the elements.
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

// send waits until an element fits within the bounds. An element above the bound waits
// until it is the only one.
func (c *prefetchCursor[T]) send(s *slot[T, T]) error {
	s.out = s.in
	s.bytes = min(max(c.of.size(s.in), 0), c.of.ahead.Bytes)
	if err := c.bytes.Acquire(c.ctx, s.bytes); err != nil {
		return context.Cause(c.ctx)
	}
	s.done <- struct{}{}
	return nil
}
