package stream

import (
	"context"

	"github.com/larder-data/larder/internal/proc/singleflight"
	"github.com/larder-data/larder/pool"
)

// MapParallel is [Map] with the workers of a pool; a nil pool has one for each
// processor. Elements are returned in the order of the input. At most two for each
// worker are being computed or waiting. Its state is that of the input after the last
// returned element, so prefetched elements are computed again. A goroutine of its own
// reads the input.
func MapParallel[T, U any](s Stream[T], p *pool.Pool, f func(ctx context.Context, v T) (U, error)) Stream[U] {
	return Stream[U]{&parallelNode[T, U]{s, p, f}}
}

type parallelNode[T, U any] struct {
	in   Stream[T]
	pool *pool.Pool
	f    func(context.Context, T) (U, error)
}

// describe omits the concurrency, so that a state may be resumed with other workers.
func (m *parallelNode[T, U]) describe(s *shape) {
	s.op("map")
	s.function()
	s.input(m.in.of().describe)
}

func (m *parallelNode[T, U]) sharded(i, n int) node[U] {
	return &parallelNode[T, U]{Shard(m.in, i, n), m.pool, m.f}
}

func (m *parallelNode[T, U]) open(o *opening) (cursor[U], error) {
	l, err := newLine[T, U](o, m.in, 2*m.pool.Workers())
	if err != nil {
		return nil, err
	}
	return &parallelCursor[T, U]{l, m, make(chan job[T, U], 2*m.pool.Workers())}, nil
}

type parallelCursor[T, U any] struct {
	*line[T, U]
	of   *parallelNode[T, U]
	jobs chan job[T, U]
}

// A job is a slot with an element to compute, and its position.
type job[T, U any] struct {
	*slot[T, U]
	at uint64
}

func (c *parallelCursor[T, U]) next(ctx context.Context) (U, error) {
	if !c.begun {
		c.begun = true
		c.start()
	}
	u, _, err := c.take(ctx)
	return u, err
}

func (c *parallelCursor[T, U]) start() {
	c.work.Go(func() {
		defer close(c.jobs)
		c.fill(func(s *slot[T, U]) error {
			c.jobs <- job[T, U]{s, c.in.n - 1} // has capacity for all slots
			return nil
		})
	})
	for range c.of.pool.Workers() {
		c.work.Go(func() {
			for j := range c.jobs {
				c.make(j)
			}
		})
	}
}

// make computes an element in a slot of the pool.
func (c *parallelCursor[T, U]) make(j job[T, U]) {
	err := errGone
	defer func() {
		if err != nil {
			j.err = wrongAt("map", j.at, err)
		}
		j.done <- struct{}{}
	}()
	err = c.of.pool.Do(c.ctx, func(ctx context.Context) (err error) {
		j.out, err = singleflight.Protect(func() (U, error) { return c.of.f(ctx, j.in) })
		return err
	})
}
