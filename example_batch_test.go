package larder_test

import (
	"context"
	"fmt"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store/memory"
)

// Run a model on new inputs only, in one call.
func ExampleBatch() {
	l, err := larder.Open(larder.Options{Store: memory.New(memory.Options{})})
	if err != nil {
		panic(err)
	}
	defer l.Close()
	for _, words := range [][]string{{"salt", "flour"}, {"flour", "butter", "salt", "sugar"}} {
		var b larder.Batch[int]
		for _, w := range words {
			a, err := key.NewAction("length", key.Version("1"), w)
			if err != nil {
				panic(err)
			}
			b.Calls = append(b.Calls, larder.Call[int]{Action: a})
		}
		b.Compute = func(_ context.Context, missing []int) (lengths []int, err error) {
			for _, i := range missing {
				fmt.Println("computing", words[i])
				lengths = append(lengths, len(words[i]))
			}
			return lengths, nil
		}
		results, errs := b.Do(context.Background(), l)
		for i, r := range results {
			fmt.Println(words[i], r.Value)
		}
		fmt.Println(errs)
	}
	// Output:
	// computing salt
	// computing flour
	// salt 4
	// flour 5
	// []
	// computing butter
	// computing sugar
	// flour 5
	// butter 6
	// salt 4
	// sugar 5
	// []
}
