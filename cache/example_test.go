package cache_test

import (
	"context"
	"fmt"

	"github.com/larder-data/larder/cache"
	"github.com/larder-data/larder/order"
)

// A value is loaded once, by the first caller, and evicted when the cache is full.
func Example() {
	c, err := cache.New[string, string](cache.Options{Policy: "lru", Bytes: 10})
	if err != nil {
		panic(err)
	}
	load := func(k string) {
		v, err := c.Load(context.Background(), k, func(context.Context) (string, int64, error) {
			fmt.Println("loading", k)
			return "<" + k + ">", 5, nil
		})
		fmt.Println(v, err)
	}
	load("a")
	load("a")
	load("b")
	load("c") // the cache holds two: a is evicted
	fmt.Println(c.Len(), "held,", c.Stats().Hits, "hit,", c.Stats().Evictions, "evicted")
	// Output:
	// loading a
	// <a> <nil>
	// <a> <nil>
	// loading b
	// <b> <nil>
	// loading c
	// <c> <nil>
	// 2 held, 1 hit, 1 evicted
}

// If the order of reads is known, the entry that is read last is evicted first.
func ExampleNewOrdered() {
	reads, err := order.Repeat(4, 3) // 0 1 2 3, three times
	if err != nil {
		panic(err)
	}
	for _, policy := range []string{"opt", "lru"} {
		c, err := cache.New[int, int](cache.Options{Policy: "lru", Size: 3})
		if policy == "opt" {
			c, err = cache.NewOrdered[int](cache.Options{Size: 3}, reads)
		}
		if err != nil {
			panic(err)
		}
		for pos := range reads.Len() {
			i := reads.At(pos)
			if _, ok := c.Get(i); !ok {
				c.Put(i, i, 1, 0)
			}
		}
		fmt.Println(policy, c.Stats().Hits, "of", reads.Len())
	}
	// Output:
	// opt 6 of 12
	// lru 0 of 12
}
