package partial

import (
	"context"

	"github.com/larder-data/larder/lazy"
)

// LazyPart is Part.
var LazyPart = lazy.Func1("part", Part)

// Part calls a function of another file.
func Part(_ context.Context, n int) (int, error) { return hidden(n), nil }
