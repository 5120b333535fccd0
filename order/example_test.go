package order_test

import (
	"fmt"

	"github.com/larder-data/larder/order"
)

// Orders are composed, and evaluated in both directions.
func Example() {
	const n = 1_000_000_000
	shuffled, err := order.Shuffle(n, 1, 0) // seed 1, epoch 0: a function, not a list
	if err != nil {
		panic(err)
	}
	stop := 1000
	first, err := order.Slice(n, nil, &stop, nil)
	if err != nil {
		panic(err)
	}
	o := order.Then(first, shuffled) // the first thousand of the shuffled
	index := o.At(500)
	pos, ok := o.Next(index, -1)
	fmt.Println(o.Len(), pos, ok)
	_, again := o.Next(index, pos)
	fmt.Println(again)
	// Output:
	// 1000 500 true
	// false
}

func ExampleRepeat() {
	o, err := order.Repeat(3, 2)
	if err != nil {
		panic(err)
	}
	for pos := range o.Len() {
		fmt.Print(o.At(pos), " ")
	}
	// Output: 0 1 2 0 1 2
}
