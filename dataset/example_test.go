package dataset_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/pool"
)

// A mapper from one tagged struct to another reads the items of the first and makes those
// of the second.
func ExampleNewTyped() {
	type in struct {
		Meta map[string]any `item:"meta"`
	}
	type out struct {
		Title string `item:"title" ext:"txt"`
	}
	m, err := dataset.NewTyped("title", key.Version("1"), func(_ context.Context, v in) (out, error) {
		return out{Title: strings.ToUpper(v.Meta["name"].(string))}, nil
	})
	if err != nil {
		log.Fatal(err)
	}
	samples := dataset.List(dataset.NewSample(dataset.Field{
		Key: "meta", Item: dataset.NewItem("json", map[string]any{"name": "jam"}),
	}))
	for s, err := range dataset.All(context.Background(), dataset.Map(samples, m, dataset.MapOptions{})) {
		if err != nil {
			log.Fatal(err)
		}
		title, err := s.Value(context.Background(), "title")
		fmt.Println(s.Keys(), title, err)
	}
	// Output: [meta title] JAM <nil>
}

// A transform receives at most three samples per call, and reports that it cannot make one of
// them.
func ExampleTransformFunc_batch() {
	m, err := dataset.NewTransform(dataset.TransformFunc{
		Name: "title", Code: key.Version("1"), In: []string{"name"}, Out: []string{"title"}, Formats: []string{"txt"}, Batch: 3,
		BatchFunc: func(ctx context.Context, in []dataset.Sample) ([]dataset.Sample, error) {
			fmt.Println("given", len(in))
			outs, failed := make([]dataset.Sample, len(in)), map[int]error{}
			for i, s := range in {
				name, err := s.Value(ctx, "name")
				switch {
				case err != nil:
					failed[i] = err
				case name == "":
					failed[i] = errors.New("it has no name")
				default:
					outs[i] = dataset.NewSample(dataset.Field{Key: "title", Item: dataset.NewItem("txt", strings.ToUpper(name.(string)))})
				}
			}
			if len(failed) > 0 {
				return outs, &dataset.PartialError{Errs: failed}
			}
			return outs, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	var samples []dataset.Sample
	for _, name := range []string{"jam", "tea", "rye", "oil", ""} {
		samples = append(samples, dataset.NewSample(dataset.Field{Key: "name", Item: dataset.NewItem("txt", name)}))
	}
	made := dataset.Map(dataset.List(samples...), m, dataset.MapOptions{Node: "titles"})
	err = dataset.Pass(context.Background(), made, pool.New(1), func(ctx context.Context, i int, s dataset.Sample) error {
		title, err := s.Value(ctx, "title")
		fmt.Println(i, title)
		return err
	})
	fmt.Println(err)
	// Output:
	// given 3
	// 0 JAM
	// 1 TEA
	// 2 RYE
	// given 2
	// 3 OIL
	// node titles: sample 4: it has no name
}
