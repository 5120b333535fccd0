package lazy_test

import (
	"context"
	"fmt"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/lazy"
	"github.com/larder-data/larder/store/memory"
)

// Building a tree computes nothing. Get computes the missing values and stores them.
func Example() {
	l, err := larder.Open(larder.Options{Store: memory.New(memory.Options{})})
	if err != nil {
		panic(err)
	}
	defer l.Close()
	square := lazy.Func1("example square", func(_ context.Context, x int) (int, error) {
		fmt.Println("squaring", x)
		return x * x, nil
	}, lazy.Options{Version: "1"})
	sum := lazy.Func3("example sum", func(_ context.Context, a, b, c int) (int, error) {
		return a + b + c, nil
	}, lazy.Options{Version: "1"})

	root := sum(lazy.Of(1), square(lazy.Of(2)), lazy.Of(3))
	v, err := root.Get(context.Background(), l)
	fmt.Println(v, err)
	p, err := lazy.PlanOf(context.Background(), l, root)
	fmt.Println(p.Load, "to load,", p.Compute, "to compute", err)
	// Output:
	// squaring 2
	// 8 <nil>
	// 1 to load, 0 to compute <nil>
}
