package tier_test

import (
	"context"
	"fmt"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store/memory"
	"github.com/larder-data/larder/store/tier"
)

// A record that one machine stores remotely is found by another, which then has a local copy.
func Example() {
	far := memory.New(memory.Options{}) // represents a store that machines share
	a, err := key.NewAction("answer", key.Version("1"))
	if err != nil {
		panic(err)
	}
	for range 2 {
		near := memory.New(memory.Options{MaxBytes: 1 << 20})
		l, err := larder.Open(larder.Options{Store: tier.New(near, far)})
		if err != nil {
			panic(err)
		}
		v, err := larder.Do(context.Background(), l, a, func(context.Context) (int, error) {
			fmt.Println("computing")
			return 42, nil
		})
		fmt.Println(v, err)
		ok, err := near.Has(context.Background(), l.Key(a.Key()))
		fmt.Println(ok, err)
	}
	// Output:
	// computing
	// 42 <nil>
	// true <nil>
	// 42 <nil>
	// true <nil>
}
