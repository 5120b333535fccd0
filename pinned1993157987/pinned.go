package pinned

import (
	"context"

	"github.com/larder-data/larder/lazy"
)

var twice = lazy.Func1("twice", func(_ context.Context, x int) (int, error) { return 2 * x, nil }, lazy.Options{Version: "1"})

// Root is pinned; Limit and twice are no lazy values.
var (
	Root  = twice(twice(lazy.Of(3)))
	Limit = 3
)
