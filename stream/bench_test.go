package stream_test

import (
	"context"
	"testing"

	"github.com/larder-data/larder/pool"
	"github.com/larder-data/larder/stream"
)

// endless counts from 0.
type endless struct{ n int }

func (e *endless) Next(context.Context) (int, error) { e.n++; return e.n, nil }
func (e *endless) Position() int64                   { return int64(e.n) }
func (e *endless) Close() error                      { return nil }

func counter() stream.Stream[int] {
	return stream.From(stream.Source[int]{Name: "counter", Kind: stream.Seeks, Open: func(_ context.Context, from int64) (stream.Feed[int], error) { return &endless{int(from)}, nil }})
}

// BenchmarkElement measures the time per returned element, including its state.
func BenchmarkElement(b *testing.B) {
	ten := counter()
	for range 10 {
		ten = stream.Map(ten, double)
	}
	for _, c := range []struct {
		name string
		s    stream.Stream[int]
	}{
		{"source", counter()},
		{"map", stream.Map(counter(), double)},
		{"map-10", ten},
		{"map-parallel", stream.MapParallel(counter(), pool.New(2), double)},
		{"batch-32-unbatch", stream.Unbatch(stream.Batch(counter(), 32, false))},
		{"shuffle-1000", stream.Shuffle(counter(), 1000, 1)},
		{"prefetch", stream.Prefetch(counter(), stream.Ahead{Elements: 64}, nil)},
	} {
		b.Run(c.name, func(b *testing.B) {
			r, err := c.s.Open(b.Context(), stream.State{})
			if err != nil {
				b.Fatal(err)
			}
			defer r.Close()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Next(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkResumeShuffle measures the time from a state in the middle of a shuffle to the
// next element.
func BenchmarkResumeShuffle(b *testing.B) {
	s := stream.Shuffle(counter(), 1000, 1)
	r, err := s.Open(b.Context(), stream.State{})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	for range 20_000 {
		if _, err := r.Next(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(r.State().String())), "state-bytes")
	for b.Loop() {
		again, err := s.Open(b.Context(), r.State())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := again.Next(b.Context()); err != nil {
			b.Fatal(err)
		}
		again.Close()
	}
}
