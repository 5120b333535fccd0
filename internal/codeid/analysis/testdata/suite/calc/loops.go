package calc

import (
	"context"

	"github.com/larder-data/larder/lazy"
)

// LazyLoops is Loops.
var LazyLoops = lazy.Func1("loops", Loops)

// Loops keeps functions made in a loop, and calls them after it. What it
// returns depends on the version of the language.
func Loops(_ context.Context, n int) (int, error) {
	var made []func() int
	for i := 0; i < n; i++ {
		made = append(made, func() int { return i })
	}
	total := 0
	for _, f := range made {
		total += f()
	}
	return total, nil
}
