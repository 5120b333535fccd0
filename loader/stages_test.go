package loader_test

import (
	"context"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/loader"
)

// TestStagesSayWhereTimeGoes checks that each stage reports its own time under its name,
// and that cached samples are not computed again.
func TestStagesSayWhereTimeGoes(t *testing.T) {
	const n = 12
	m, err := dataset.NewTransform(dataset.TransformFunc{
		Name: "double", Code: key.Version("1"), In: []string{"n"}, Out: []string{"d"}, Formats: []string{"json"},
		Func: func(ctx context.Context, in dataset.Sample) (dataset.Sample, error) {
			v, err := in.Value(ctx, "n")
			if err != nil {
				return in, err
			}
			return dataset.NewSample(dataset.Field{Key: "d", Item: dataset.NewItem("json", 2*v.(int64))}), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	store, err := larder.Open(larder.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	encoded := dataset.Func(n, func(context.Context, int) (dataset.Sample, error) {
		return dataset.NewEncoded("json", []string{"n"}, [][]byte{[]byte("7")}), nil
	})
	data := dataset.Map(encoded, m, dataset.MapOptions{Larder: store, Keep: true, Node: "doubled"})
	for _, want := range [][]string{
		{"collate", "decode json", "find", "key doubled", "look up doubled", "map doubled"},
		{"collate", "decode json", "find", "key doubled", "look up doubled"},
	} {
		l, err := loader.New(loader.Options{Data: []loader.Data{data}, Plan: loader.PlanOptions{Batch: loader.BatchOptions{Size: 4}}, MeasureAll: true})
		if err != nil {
			t.Fatal(err)
		}
		r, err := l.Read(t.Context(), loader.ReadOptions{Epochs: 1})
		if err != nil {
			t.Fatal(err)
		}
		for b, err := range r.Batches(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			b.Release()
		}
		r.Close()
		seconds, share := map[string]float64{}, 0.0
		for _, s := range l.Stages() {
			seconds[s.Name] = s.Seconds
			share += s.Share
			if math.Abs(s.ASample*n-s.Seconds) > 1e-9 {
				t.Errorf("%s took %v for each of %d samples, and %v in all", s.Name, s.ASample, n, s.Seconds)
			}
		}
		if got := slices.Sorted(maps.Keys(seconds)); !slices.Equal(got, want) || math.Abs(share-1) > 1e-9 {
			t.Errorf("stages %v with %v of the time, want %v with all", got, share, want)
		}
	}
}
