package dataset_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
)

// A mapper from one tagged struct to another reads the items that the first
// names, and makes those that the second names.
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
