package memory_test

import (
	"context"
	"fmt"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store/memory"
)

// Use a cache that lives only as long as its process, such as in tests.
func Example() {
	l, err := larder.Open(larder.Options{Store: memory.New(memory.Options{MaxBytes: 1 << 20})})
	if err != nil {
		panic(err)
	}
	defer l.Close()
	a, err := key.NewAction("answer", key.Version("1"))
	if err != nil {
		panic(err)
	}
	for range 2 {
		v, err := larder.Do(context.Background(), l, a, func(context.Context) (int, error) {
			fmt.Println("computing")
			return 42, nil
		})
		fmt.Println(v, err)
	}
	// Output:
	// computing
	// 42 <nil>
	// 42 <nil>
}
