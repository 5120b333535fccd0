package dataset_test

import (
	"context"
	"slices"
	"testing"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/order"
)

// known is a dataset that knows the inputs of its samples.
type known struct {
	dataset.Dataset[dataset.Sample]
}

var knownChunks = []dataset.Chunk{{Samples: 1, Digest: key.DigestOf([]byte("a"))}, {Samples: 2, Digest: key.DigestOf([]byte("b"))}}

func (known) Chunks(context.Context) ([]dataset.Chunk, error) { return knownChunks, nil }

// TestChunksGoThroughMappers checks that a dataset knows the inputs of its samples if
// each depends only on the sample at its position and not on the position itself.
func TestChunksGoThroughMappers(t *testing.T) {
	ds := known{texts(3, "a")}
	transform := func(random *dataset.Random) dataset.Mapper {
		m, err := dataset.NewTransform(dataset.TransformFunc{
			Name: "made", Code: key.Version("1"), In: []string{"a"}, Out: []string{"b"}, Random: random,
			Func: func(_ context.Context, in dataset.Sample) (dataset.Sample, error) { return in, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	names := dataset.MapperFunc(func(_ context.Context, in dataset.Sample) (dataset.Sample, error) { return in, nil })
	composed := func(steps ...dataset.Mapper) dataset.Mapper {
		m, err := dataset.Compose(steps...)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	apply := func(ms ...dataset.Mapper) dataset.Dataset[dataset.Sample] {
		var out dataset.Dataset[dataset.Sample] = ds
		for _, m := range ms {
			out = dataset.Map(out, m, dataset.MapOptions{})
		}
		return out
	}
	content, position := transform(&dataset.Random{Per: dataset.PerContent}), transform(&dataset.Random{})
	for name, c := range map[string]struct {
		ds    dataset.Dataset[dataset.Sample]
		knows bool
	}{
		"itself":                         {ds, true},
		"mappers":                        {apply(transform(nil), names, content), true},
		"cached":                         {dataset.WithCaching(apply(transform(nil))), true},
		"composed":                       {apply(composed(names, transform(nil), content)), true},
		"draws by position":              {apply(names, position, transform(nil)), false},
		"draws by position among others": {apply(composed(content, position)), false},
		"another order":                  {dataset.Reorder(ds, order.Identity(3)), false},
		"changed by position":            {dataset.Each(ds, func(_ context.Context, _ int, s dataset.Sample) (dataset.Sample, error) { return s, nil }), false},
		"one after another":              {dataset.Cat[dataset.Sample](ds), false},
		"traced":                         {dataset.Traced(ds, func([]byte) {}), false},
		"a dataset that does not know":   {dataset.Map(texts(3, "a"), names, dataset.MapOptions{}), false},
	} {
		got, err := dataset.Chunks(t.Context(), c.ds)
		if err != nil || c.knows != slices.Equal(got, knownChunks) || !c.knows && got != nil {
			t.Errorf("%s: %v (%v)", name, got, err)
		}
	}
}
