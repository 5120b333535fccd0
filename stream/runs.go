package stream

import (
	"context"
	"errors"
	"io"
	"math"
)

// Runs groups consecutive elements with the same key, such as the members of an archive
// that form one sample. A run of more than most elements is an error; 0 means 10000. Its
// state is that of its input before the next run.
func Runs[K comparable, T any](s Stream[T], most int, by func(T) K) Stream[Grouped[K, T]] {
	return RunsWithin(s, most, math.MaxInt64, func(T) int64 { return 0 }, by)
}

// RunsWithin is [Runs] for elements with a size: a run of more than the given number of
// bytes is an error.
func RunsWithin[K comparable, T any](s Stream[T], most int, bytes int64, size func(T) int64, by func(T) K) Stream[Grouped[K, T]] {
	if most == 0 {
		most = defaultBuffer
	}
	if most < 0 {
		return refused[Grouped[K, T]]("runs", "a run cannot have %d elements", most)
	}
	return Stream[Grouped[K, T]]{&runsNode[K, T]{s, most, bytes, size, by}}
}

type runsNode[K comparable, T any] struct {
	in   Stream[T]
	most int

	bytes int64
	size  func(T) int64
	by    func(T) K
}

func (r *runsNode[K, T]) describe(s *shape) {
	s.op("runs", param("most", r.most))
	s.function()
	s.input(r.in.of().describe)
}

func (r *runsNode[K, T]) open(o *opening) (cursor[Grouped[K, T]], error) {
	in, err := openInput(o, r.in)
	if err != nil {
		return nil, err
	}
	return &runsCursor[K, T]{of: r, in: in, before: in.mark(nil)}, nil
}

// runsCursor has read the first element of the next run.
type runsCursor[K comparable, T any] struct {
	of     *runsNode[K, T]
	in     *input[T]
	before []byte // mark of the input before that
	have   bool
	first  T
	key    K
}

// ErrLongRun is the error of a run with too many elements.
var ErrLongRun = errors.New("a run has more elements than it may have; raise most, or look at the key")

// ErrLargeRun is the error of a run with too many bytes.
var ErrLargeRun = errors.New("a run takes more bytes than it may have; raise the bound (--max-item), or look at the key")

func (c *runsCursor[K, T]) next(ctx context.Context) (run Grouped[K, T], err error) {
	if !c.have {
		if c.first, err = c.in.next(ctx); err != nil {
			return run, err
		}
		c.key = c.of.by(c.first)
	}
	run = Grouped[K, T]{c.key, []T{c.first}}
	c.have = false
	bytes := c.of.size(c.first)
	for {
		c.before = c.in.mark(c.before[:0])
		v, err := c.in.next(ctx)
		if errors.Is(err, io.EOF) {
			return run, nil
		}
		if err != nil {
			return run, err
		}
		if k := c.of.by(v); k != run.Key {
			c.have, c.first, c.key = true, v, k
			return run, nil
		}
		if len(run.Values) == c.of.most {
			return run, c.in.wrong("runs", ErrLongRun)
		}
		if bytes += c.of.size(v); bytes > c.of.bytes {
			return run, c.in.wrong("runs", ErrLargeRun)
		}
		run.Values = append(run.Values, v)
	}
}

func (c *runsCursor[K, T]) mark(to []byte) []byte { return append(to, c.before...) }

func (c *runsCursor[K, T]) close() { c.in.close() }
