package explain_test

import (
	"context"
	"fmt"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/internal/app/explain"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store/memory"
)

// A missing computation is compared with the most similar one in the cache.
func ExampleNearest() {
	l, err := larder.Open(larder.Options{Store: memory.New(memory.Options{})})
	if err != nil {
		panic(err)
	}
	defer l.Close()
	action := func(model string, size int) *key.Action {
		op, err := key.NewOp("predict", key.Version("1"), key.Param{Name: "model", Value: model}, key.Param{Name: "size", Value: size})
		if err != nil {
			panic(err)
		}
		return op.Action()
	}
	_, err = larder.Do(context.Background(), l, action("small", 7), func(context.Context) (string, error) { return "cat", nil })
	if err != nil {
		panic(err)
	}
	d, err := explain.Nearest(context.Background(), l, action("small", 8))
	fmt.Println(d.Node, d.Changes, err)
	// Output: predict [size: changed (7 -> 8)] <nil>
}
