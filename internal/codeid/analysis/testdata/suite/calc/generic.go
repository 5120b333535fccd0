package calc

import (
	"cmp"
	"context"

	"github.com/larder-data/larder/lazy"
)

// Generic functions, for certain types.
var (
	LazyLargest = lazy.Func1("largest", Largest[int])
	LazyTotal   = lazy.Func1("total", Total[Metre])
)

// Largest has its type argument in its signature.
func Largest[T cmp.Ordered](_ context.Context, xs []T) (T, error) {
	var top T
	for _, x := range xs {
		top = later(top, x)
	}
	return top, nil
}

func later[T cmp.Ordered](a, b T) T {
	if b > a {
		return b
	}
	return a
}

// A Unit is what Total counts in.
type Unit interface{ Factor() float64 }

// Metre is one.
type Metre struct{}

// Factor is the length in metres.
func (Metre) Factor() float64 { return 1 }

// Mile is many.
type Mile struct{}

// Factor is the length in metres.
func (Mile) Factor() float64 { return 1609 }

// Total has its type argument nowhere in its signature.
func Total[U Unit](_ context.Context, xs []float64) (float64, error) {
	var u U
	total := 0.0
	for _, x := range xs {
		total += x * u.Factor()
	}
	return total, nil
}
