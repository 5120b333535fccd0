package loader_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/loader"
)

// TestLengthsAreCached checks that lengths are computed once, and not again in the run of
// another process.
func TestLengthsAreCached(t *testing.T) {
	var made atomic.Int32
	m, err := dataset.NewTransform(dataset.TransformFunc{
		Name: "repeat", Code: key.Version("1"), In: []string{"t"}, Out: []string{"long"}, Formats: []string{"txt"},
		Func: func(ctx context.Context, in dataset.Sample) (dataset.Sample, error) {
			made.Add(1)
			v, err := in.Value(ctx, "t")
			if err != nil {
				return dataset.Sample{}, err
			}
			return dataset.NewSample(dataset.Field{Key: "long", Item: dataset.NewItem("txt", strings.Repeat(v.(string), 3))}), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var samples []dataset.Sample
	for _, s := range []string{"a", "", "bcd"} {
		samples = append(samples, dataset.NewSample(dataset.Field{Key: "t", Item: dataset.NewItem("txt", s)}))
	}
	cache := t.TempDir()
	for range 2 {
		l, err := larder.Open(larder.Options{Dir: cache})
		if err != nil {
			t.Fatal(err)
		}
		ds := dataset.Map(dataset.List(samples...), m, dataset.MapOptions{Larder: l})
		lengths, err := loader.Lengths(t.Context(), ds, loader.LengthOptions{Item: "long", Larder: l})
		if err != nil || !slices.Equal(lengths, []int{3, 0, 9}) {
			t.Errorf("%v %v", lengths, err)
		}
		lengths, err = loader.Lengths(t.Context(), ds, loader.LengthOptions{Expression: "len(long) + 1", Larder: l})
		if err != nil || !slices.Equal(lengths, []int{4, 1, 10}) {
			t.Errorf("%v %v", lengths, err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := made.Load(); n != 2*3 { // once for the item and once for the expression, as the samples are not cached
		t.Errorf("%d executions", n)
	}
}

func TestWhatHasNoLengthIsAnError(t *testing.T) {
	ds := dataset.List(dataset.NewSample(dataset.Field{Key: "d", Item: dataset.NewItem("json", map[string]any{})}))
	for _, item := range []string{"d", "x"} {
		if _, err := loader.Lengths(t.Context(), ds, loader.LengthOptions{Item: item}); err == nil || !strings.Contains(err.Error(), "sample 0") {
			t.Errorf("%s: %v", item, err)
		}
	}
}
