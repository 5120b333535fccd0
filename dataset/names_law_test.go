package dataset_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
)

// TestDrawsOfOneContentAreCachedApart checks that equal samples have draws, and therefore
// cached results, by position.
func TestDrawsOfOneContentAreCachedApart(t *testing.T) {
	_, reopen := newLarder(t)
	var runs atomic.Int64
	alike := dataset.Func(5, func(context.Context, int) (dataset.Sample, error) {
		return dataset.NewSample(dataset.Field{Key: "a", Item: dataset.NewItem("txt", "x")}), nil
	})
	base := drawn(t, alike, dice(t, "dice", "1", dataset.Random{}, nil), dataset.MapOptions{})
	for range 2 {
		got := drawn(t, alike, dice(t, "dice", "1", dataset.Random{}, &runs), dataset.MapOptions{Larder: reopen(), Keep: true})
		if !slices.Equal(got, base) || runs.Load() != 5 {
			t.Errorf("%v after %d executions, want %v after 5", got, runs.Load(), base)
		}
	}
	slices.Sort(base)
	if n := len(slices.Compact(base)); n != 5 {
		t.Errorf("%d draws for 5 positions", n)
	}
}

// TestCodecIsPartOfTheName checks that two codecs decode the same bytes to two values with
// separate results.
func TestCodecIsPartOfTheName(t *testing.T) {
	l, _ := newLarder(t)
	exts := []string{"txt", "json", "yaml", "unknown", "JSON"}
	ds := dataset.Func(len(exts), func(_ context.Context, i int) (dataset.Sample, error) {
		return dataset.NewSample(dataset.Field{Key: "a", Item: dataset.NewBytes(exts[i], []byte("1"))}), nil
	})
	m, err := dataset.NewTransform(dataset.TransformFunc{
		Name: "type", Code: key.Version("1"), In: []string{"a"}, Out: []string{"type"},
		Func: func(ctx context.Context, s dataset.Sample) (dataset.Sample, error) {
			v, err := s.Value(ctx, "a")
			return dataset.NewSample(dataset.Field{Key: "type", Item: dataset.NewItem("txt", fmt.Sprintf("%T", v))}), err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := values(t, dataset.Map(ds, m, dataset.MapOptions{}), "type")
	if want[0] == want[1] || want[0] == want[3] {
		t.Fatalf("the codecs do not differ: %v", want)
	}
	if got := values(t, dataset.Map(ds, m, dataset.MapOptions{Larder: l, Keep: true}), "type"); !slices.Equal(got, want) {
		t.Errorf("got %v of cached results, want %v", got, want)
	}
}
