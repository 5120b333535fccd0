package stream_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/stream"
)

func open(t *testing.T, dir string) *larder.Larder {
	t.Helper()
	l, err := larder.Open(larder.Options{Dir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// counting has n numbers, counts its reads, and fails at one number.
type counting struct{ n, read, bad int }

func (c *counting) stream() stream.Stream[int] {
	return stream.From(stream.Source[int]{Name: "numbers", Identity: "v1", Kind: stream.Seeks, Open: func(_ context.Context, from int64) (stream.Feed[int], error) {
		return &countingFeed{c, numbers{at: int(from), n: c.n}}, nil
	}})
}

type countingFeed struct {
	*counting
	numbers
}

func (f *countingFeed) Next(ctx context.Context) (int, error) {
	if f.at == f.bad {
		return 0, errBad
	}
	v, err := f.numbers.Next(ctx)
	if err == nil {
		f.read++
	}
	return v, err
}

func (f *countingFeed) Position() int64 { return int64(f.at) }

// TestMaterialise checks that an interrupted materialisation reads nothing again, and a
// complete one reads nothing. Only the chunk of a lost element is computed again.
func TestMaterialise(t *testing.T) {
	c := &counting{n: 295, bad: 257}
	s := stream.Shuffle(c.stream(), 3, 1)
	want, err := stream.Collect(t.Context(), stream.Shuffle(stream.From(seeking(295)), 3, 1))
	if err != nil {
		t.Fatal(err)
	}
	l, k := open(t, t.TempDir()), stream.MaterialiseOptions[int]{Chunk: 10}
	if _, err := stream.Materialise(t.Context(), l, s, k); !errors.Is(err, errBad) {
		t.Fatalf("an element that cannot be read: %v", err)
	}
	if c.read != 257 {
		t.Errorf("%d were read before that", c.read)
	}
	c.bad, c.read = -1, 0
	if _, err := stream.Materialise(t.Context(), l, s, k); err != nil {
		t.Fatal(err)
	}
	if c.read < 45 || c.read > 120 {
		t.Errorf("%d of 295 were read to go on behind 250", c.read)
	}
	c.read = 0
	ds, err := stream.Materialise(t.Context(), l, s, k)
	if err != nil || c.read != 0 {
		t.Fatalf("%d were read again: %v", c.read, err)
	}
	check := func(ds dataset.Dataset[int]) {
		t.Helper()
		for _, i := range []int{294, 0, 10, 9, 250, 257} {
			if v, err := ds.At(t.Context(), i); err != nil || v != want[i] {
				t.Errorf("at %d is %d, %v instead of %d", i, v, err, want[i])
			}
		}
	}
	if ds.Len() != 295 {
		t.Errorf("it has %d elements", ds.Len())
	}
	check(ds)
	if _, err := ds.At(t.Context(), 295); err == nil {
		t.Error("there is an element 295")
	}
	if c.read != 0 {
		t.Errorf("%d were read for what is cached", c.read)
	}
	back, err := stream.Collect(t.Context(), stream.FromDataset(ds, ""))
	if err != nil || !slices.Equal(back, want) {
		t.Errorf("%v, %v", back, err)
	}
}

// TestMaterialiseByKey checks that a stream with unknown content needs a key, and that
// another stream under this key reuses nothing.
func TestMaterialiseByKey(t *testing.T) {
	l := open(t, t.TempDir())
	s := stream.Of(1, 2, 3)
	if _, err := stream.Materialise(t.Context(), l, s, stream.MaterialiseOptions[int]{}); !errors.Is(err, stream.ErrNoKey) {
		t.Errorf("values without a key: %v", err)
	}
	double := mapped((&counting{n: 3, bad: -1}).stream(), func(n int) int { return 2 * n })
	if _, err := stream.Materialise(t.Context(), l, double, stream.MaterialiseOptions[int]{}); !errors.Is(err, stream.ErrNoKey) || !strings.Contains(err.Error(), "function of map") {
		t.Errorf("a function without a key: %v", err)
	}
	for _, s := range []stream.Stream[int]{s, stream.Limit(s, 2), stream.Of[int]()} {
		want, err := stream.Collect(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		ds, err := stream.Materialise(t.Context(), l, s, stream.MaterialiseOptions[int]{Key: "k"})
		if err != nil || ds.Len() != len(want) {
			t.Errorf("%d elements of %d: %v", ds.Len(), len(want), err)
		}
	}
}

func TestMaterialiseSamples(t *testing.T) {
	dir := t.TempDir()
	samples := stream.Map(stream.Of(rangeOf(30)...), func(_ context.Context, n int) (dataset.Sample, error) {
		return dataset.NewSample(dataset.Field{Key: "n", Item: dataset.NewItem("json", int64(n))}), nil
	})
	for range 2 {
		ds, err := stream.Materialise(t.Context(), open(t, dir), samples, stream.MaterialiseOptions[dataset.Sample]{Key: "thirty"})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 30 {
			sample, err := ds.At(t.Context(), i)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := sample.Value(t.Context(), "n"); err != nil || v != int64(i) {
				t.Errorf("sample %d has %v, %v", i, v, err)
			}
		}
	}
}
