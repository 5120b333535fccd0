package flow_test

import (
	"context"
	"fmt"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/op"
)

// A flow is built in Go, and the program itself reads its samples.
func ExampleBuilder() {
	letters := dataset.List(
		dataset.NewSample(dataset.Field{Key: "letter", Item: dataset.NewItem("txt", "a")}),
		dataset.NewSample(dataset.Field{Key: "letter", Item: dataset.NewItem("txt", "b")}),
	)
	b := flow.NewBuilder("letters", ".")
	source := b.Add("letters", letters)
	twice := b.Add("twice", op.Repeat{Times: 2}, source)
	b.Add("reversed", op.Reverse{}, twice)
	f, err := b.Flow()
	if err != nil {
		panic(err)
	}
	data, err := f.Open(context.Background(), "reversed", flow.RunOptions{})
	if err != nil {
		panic(err)
	}
	for s, err := range dataset.All(context.Background(), data.Parts[0]) {
		if err != nil {
			panic(err)
		}
		letter, err := s.Value(context.Background(), "letter")
		fmt.Println(letter, err)
	}
	// Output:
	// b <nil>
	// a <nil>
	// b <nil>
	// a <nil>
}

// Errors of a flow file have positions.
func ExampleParse() {
	_, err := flow.Parse("flow.yaml", []byte("version: 1\nnodes:\n  letters:\n    sorce: underfolder\n"), nil)
	fmt.Println(err)
	// Output:
	// flow.yaml:4:5: node letters has no field "sorce"; did you mean "source"?
	//         sorce: underfolder
	//         ^
}
