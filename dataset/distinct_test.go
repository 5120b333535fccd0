package dataset_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/order"
)

// actions returns the keys of the executions for the samples of ds.
func actions(t *testing.T, ds dataset.Dataset[dataset.Sample], at int) string {
	t.Helper()
	s, err := ds.At(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for _, e := range s.Executions() {
		a, err := e.Action(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all += a.Key().String()
	}
	return all
}

// countedTexts returns n samples whose item a is the position.
func countedTexts(n int) dataset.Dataset[dataset.Sample] {
	return dataset.Func(n, func(_ context.Context, i int) (dataset.Sample, error) {
		return dataset.NewSample(dataset.Field{Key: "a", Item: dataset.NewBytes("txt", fmt.Append(nil, i))}), nil
	})
}

// adding returns a mapper from item a to item b, with or without draws.
func adding(t *testing.T, random *dataset.Random) dataset.Transform {
	t.Helper()
	m, err := dataset.NewTransform(dataset.TransformFunc{Name: "adding", Code: key.Version("1"), In: []string{"a"}, Out: []string{"b"}, Random: random, Func: func(_ context.Context, s dataset.Sample) (dataset.Sample, error) {
		return s, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestDistinct checks that work for repeated samples is done for one position of each, and
// that an endless repetition reads few of them.
func TestDistinct(t *testing.T) {
	draw := testrand.New(t)
	for range testrand.Rounds(50, 500) {
		n := 1 + draw.IntN(5)
		ds := countedTexts(n)
		what := fmt.Sprint(n)
		for range 1 + draw.IntN(4) {
			n := ds.Len()
			var o order.Order
			var err error
			switch kind := draw.IntN(7); kind {
			case 0:
				what += " repeat"
				o, err = order.Repeat(n, 2.5)
			case 1:
				what += " each"
				o, err = order.RepeatEach(n, 3)
			case 2:
				what += " shuffle"
				o, err = order.Epochs(n, draw.Uint64(), 2)
			case 3:
				what += " draw"
				o, err = order.WithReplacement(n, 9, draw.Uint64())
			case 4, 5, 6:
				random := []*dataset.Random{nil, {}, {Per: dataset.PerContent}}[kind-4]
				what += fmt.Sprintf(" map %v", random)
				ds = dataset.Map(ds, adding(t, random), dataset.MapOptions{Node: fmt.Sprint("n", draw.IntN(2))})
			}
			if err != nil {
				t.Fatal(err)
			}
			if o != nil {
				ds = dataset.Reorder(ds, o)
			}
		}
		if draw.IntN(2) == 0 {
			what += " cached"
			ds = dataset.WithCaching(ds)
		}
		at := slices.Collect(dataset.Distinct(t.Context(), ds))
		if !slices.IsSorted(at) || len(slices.Compact(slices.Clone(at))) != len(at) {
			t.Fatalf("%s: %v", what, at)
		}
		looked := map[string]bool{}
		for _, i := range at {
			looked[actions(t, ds, i)] = true
		}
		for i := range ds.Len() {
			if !looked[actions(t, ds, i)] {
				t.Fatalf("%s: nothing of %v is as what makes sample %d", what, at, i)
			}
		}
	}
	endless, err := order.Repeat(3, math.MaxInt64/16)
	if err != nil {
		t.Fatal(err)
	}
	repeated := dataset.Reorder(countedTexts(3), endless)
	same := dataset.Map(repeated, adding(t, nil), dataset.MapOptions{})
	if got := slices.Collect(dataset.Distinct(t.Context(), same)); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("of 3, repeated without end: %v", got)
	}
	apart := dataset.Map(repeated, adding(t, &dataset.Random{}), dataset.MapOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := 0
	for range dataset.Distinct(ctx, apart) {
		if seen++; seen == 10 {
			cancel()
		}
	}
	if seen != 10 {
		t.Errorf("it went on after its context: %d", seen)
	}
}
