package op_test

import (
	"context"
	"fmt"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/op"
)

// Operators make datasets of datasets. Those that only change the order read nothing.
func Example() {
	numbers := dataset.Func(10, func(_ context.Context, i int) (dataset.Sample, error) {
		return dataset.NewSample(dataset.Field{Key: "n", Item: dataset.NewItem("json", i)}), nil
	})
	b := flow.NewBuilder("numbers", ".")
	all := b.Add("all", numbers)
	even := b.Add("even", op.Filter{Where: "n % 2 == 0"}, all)
	b.Add("parts", op.Chunk{N: 2}, even)
	f, err := b.Flow()
	if err != nil {
		panic(err)
	}
	parts, err := f.Open(context.Background(), "parts", flow.RunOptions{})
	if err != nil {
		panic(err)
	}
	for i, part := range parts.Parts {
		var have []any
		for s, err := range dataset.All(context.Background(), part) {
			if err != nil {
				panic(err)
			}
			n, _ := s.Value(context.Background(), "n")
			have = append(have, n)
		}
		fmt.Println(parts.Names[i], have)
	}
	// Output:
	// 0 [0 2 4]
	// 1 [6 8]
}
