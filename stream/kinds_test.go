package stream_test

import (
	"context"
	"io"
	"math/rand/v2"

	"github.com/larder-data/larder/pool"
	"github.com/larder-data/larder/stream"
)

// A kind is an operator with random parameters, from numbers to numbers.
type kind struct {
	name string
	of   func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int]
}

func sum(all []int) (n int) {
	for i, v := range all {
		n = n*31 + v + i
	}
	return n
}

func mapped[T any](s stream.Stream[T], f func(T) int) stream.Stream[int] {
	return stream.Map(s, func(_ context.Context, v T) (int, error) { return f(v), nil })
}

func pairs(s stream.Stream[stream.Pair[int, int]]) stream.Stream[int] {
	return mapped(s, func(p stream.Pair[int, int]) int {
		if p.NoA || p.NoB {
			return -p.A - p.B - 1
		}
		return p.A*1000 + p.B
	})
}

func grouped(s stream.Stream[stream.Grouped[int, int]]) stream.Stream[int] {
	return mapped(s, func(g stream.Grouped[int, int]) int { return g.Key*1000 + sum(g.Values) })
}

func positive(n int) int { return max(n, -n) % 1000 }

// joined joins the numbers of a stream by position with those of another stream in another
// order.
func joined(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
	near := stream.Shuffle(stream.Enumerate(s, 0), 1+r.IntN(5), r.Uint64())
	by := func(i stream.Indexed[int]) int { return i.Index }
	j := stream.Join(stream.Enumerate(s, 0), near, stream.JoinOptions{Buffer: 50, Rest: true}, by, by)
	return mapped(j, func(p stream.Pair[stream.Indexed[int], stream.Indexed[int]]) int { return p.A.Value*3 + p.B.Value })
}

func kinds() []kind {
	return []kind{
		{"map", func(_ *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return mapped(s, func(n int) int { return n*2 + 1 })
		}},
		{"map-parallel", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return stream.MapParallel(s, pool.New(1+r.IntN(4)), func(_ context.Context, n int) (int, error) { return n * 3, nil })
		}},
		{"filter", func(_ *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return stream.Filter(s, func(_ context.Context, n int) (bool, error) { return n%3 != 0, nil })
		}},
		{"flat-map", func(_ *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return stream.FlatMap(s, func(_ context.Context, n int) ([]int, error) { return make([]int, positive(n)%4), nil })
		}},
		{"expand", func(_ *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return stream.Expand(s, "numbers", func(_ context.Context, n int) (stream.Source[int], error) {
				return replaying(positive(n) % 4), nil
			})
		}},
		{"batch", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return mapped(stream.Batch(s, 1+r.IntN(4), r.IntN(2) == 0), sum)
		}},
		{"unbatch", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return stream.Unbatch(stream.Batch(s, 1+r.IntN(4), false))
		}},
		{"group", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			g := stream.Grouping{Buffer: 1 + r.IntN(6), Size: r.IntN(4), Every: r.IntN(2) * 7, AtLeast: r.IntN(2), Drop: true}
			if g.Size == 0 && g.AtLeast > 0 {
				g.AtLeast = 1
			}
			return grouped(stream.Group(s, g, func(n int) int { return positive(n) % 3 }))
		}},
		{"runs", func(_ *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return grouped(stream.Runs(s, 0, func(n int) int { return positive(n) / 3 % 2 }))
		}},
		{"bucket", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			b := stream.Bucketing{Bounds: []int{3, 6}, Size: r.IntN(3), Tokens: 9 + r.IntN(9), Padding: r.IntN(2) == 0, Buffer: r.IntN(5), Drop: r.IntN(2) == 0, Every: r.IntN(2) * 5, Long: true}
			return mapped(stream.Bucket(s, b, func(n int) int { return positive(n) % 10 }), sum)
		}},
		{"shuffle", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return stream.Shuffle(s, 1+r.IntN(9), r.Uint64())
		}},
		{"zip", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return pairs(stream.Zip(s, stream.Limit(s, r.IntN(20))))
		}},
		{"zip-equal", func(_ *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return pairs(stream.ZipEqual(s, s))
		}},
		{"zip-longest", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return pairs(stream.ZipLongest(stream.Limit(s, r.IntN(20)), s))
		}},
		{"join", joined},
		{"concat", func(_ *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return stream.Concat(s, stream.Of[int](), stream.Of(1, 2), stream.Stream[int]{}, s)
		}},
		{"interleave", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return stream.Interleave(stream.Mixing{Longest: r.IntN(2) == 0}, s, stream.Limit(s, r.IntN(9)), stream.Of(7, 8, 9))
		}},
		{"interleave by weights", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return stream.Interleave(stream.Mixing{Weights: []float64{1, 2}, Seed: r.Uint64(), Longest: r.IntN(2) == 0}, s, stream.Limit(s, r.IntN(9)))
		}},
		{"fork", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			b := stream.Fork(s, 2, stream.Forking[int]{Elements: 1 + r.IntN(4)})
			return pairs(stream.ZipLongest(stream.Skip(b[0], r.IntN(9)), b[1]))
		}},
		{"route", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			b := stream.Route(s, 2, stream.Forking[int]{Elements: 1 + r.IntN(4)}, func(n int) int { return positive(n) % 2 })
			return pairs(stream.ZipLongest(b[0], stream.Prefetch(b[1], stream.Ahead{}, nil)))
		}},
		{"a branch that is opened later", func(_ *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			b := stream.Fork(s, 2, stream.Forking[int]{})
			return stream.Concat(b[0], b[1])
		}},
		{"shard", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			n := 1 + r.IntN(4)
			return stream.Shard(s, r.IntN(n), n)
		}},
		{"prefetch", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return stream.Prefetch(s, stream.Ahead{Elements: 1 + r.IntN(4), Bytes: int64(r.IntN(200))}, nil)
		}},
		{"limit", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] { return stream.Limit(s, r.IntN(30)) }},
		{"skip", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] { return stream.Skip(s, r.IntN(9)) }},
		{"repeat", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] { return stream.Repeat(s, 1+r.IntN(3)) }},
		{"cycle", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] { return stream.Cycle(s, 1+r.IntN(3)) }},
		{"enumerate", func(r *rand.Rand, s stream.Stream[int]) stream.Stream[int] {
			return mapped(stream.Enumerate(s, r.IntN(9)), func(i stream.Indexed[int]) int { return i.Index*100 + i.Value })
		}},
	}
}

func replaying(n int) stream.Source[int] {
	return stream.Source[int]{Name: "numbers", Open: func(context.Context, int64) (stream.Feed[int], error) { return &numbers{n: n}, nil }}
}

func seeking(n int) stream.Source[int] {
	return stream.Source[int]{Name: "numbers", Kind: stream.Seeks, Open: func(_ context.Context, from int64) (stream.Feed[int], error) {
		return &seekable{numbers{at: int(from) / 10, n: n}}, nil
	}}
}

type numbers struct{ at, n int }

func (f *numbers) Next(context.Context) (int, error) {
	if f.at >= f.n {
		return 0, io.EOF
	}
	f.at++
	return (f.at*7 + 1) % 11, nil
}

func (f *numbers) Close() error { return nil }

// seekable has positions that are not counts of elements.
type seekable struct{ numbers }

func (f *seekable) Position() int64 { return int64(f.at) * 10 }

// skipping is a source that skips at most three elements at a time, and counts those that
// it returns.
func skipping(n int, returned *int) stream.Source[int] {
	return stream.Source[int]{Name: "numbers", Open: func(context.Context, int64) (stream.Feed[int], error) {
		return &skipper{numbers{n: n}, returned}, nil
	}}
}

type skipper struct {
	numbers
	returned *int
}

func (f *skipper) Next(ctx context.Context) (int, error) {
	*f.returned++
	return f.numbers.Next(ctx)
}

func (f *skipper) Skip(_ context.Context, n uint64) (passed uint64, err error) {
	passed = min(n, 3, uint64(f.n-f.at))
	if f.at += int(passed); passed == 0 {
		err = io.EOF
	}
	return passed, err
}
