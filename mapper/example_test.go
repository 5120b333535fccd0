package mapper_test

import (
	"context"
	"fmt"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/format/underfolder"
	"github.com/larder-data/larder/mapper"
)

// A mapper's parameters are a struct, here those of a node.
func Example() {
	b := flow.NewBuilder("letters", "../examples/letters")
	letters := b.Add("letters", underfolder.Source{Path: "data"})
	b.Add("stats", mapper.ImageStats{Into: "stats"}, letters)
	f, err := b.Flow()
	if err != nil {
		panic(err)
	}
	stats, err := f.Open(context.Background(), "stats", flow.RunOptions{})
	if err != nil {
		panic(err)
	}
	s, err := stats.Parts[0].At(context.Background(), 0)
	if err != nil {
		panic(err)
	}
	v, err := dataset.Decode[struct {
		Stats struct{ Width, Height, Channels int } `item:"stats"`
	}](context.Background(), s)
	fmt.Println(s.Keys(), v.Stats, err)
	// Output: [image metadata consonants vowels stats] {32 32 3} <nil>
}
