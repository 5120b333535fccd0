package calc

import (
	"context"
	"fmt"

	"github.com/larder-data/larder/lazy"
)

// The functions of this file, as lazy ones.
var (
	LazySum     = lazy.Func1("sum", Sum)
	LazyGrade   = lazy.Func1("grade", Grade)
	LazyFib     = lazy.Func1("fib", Fib)
	LazyParity  = lazy.Func1("parity", Parity)
	LazySafe    = lazy.Func1("safe", Safe)
	LazySearch  = lazy.Func1("search", Search)
	LazyCompose = lazy.Func1("compose", Compose)
	LazyNarrow  = lazy.Func1("narrow", Narrow)
)

// Sum adds numbers: three calls deep, down to a constant made of constants.
func Sum(_ context.Context, xs []float64) (float64, error) {
	return accumulate(xs), nil
}

// Grade names a level of an iota group.
func Grade(_ context.Context, points int) (string, error) {
	switch l := level(points); {
	case l >= best:
		return "best", nil
	case l >= good:
		return fmt.Sprintf("good(%d)", good), nil
	case l >= fair:
		return fmt.Sprintf("fair(%d)", fair), nil
	}
	return "low", nil
}

// Fib calls itself.
func Fib(ctx context.Context, n int) (int, error) {
	if n < 2 {
		return n, nil
	}
	a, err := Fib(ctx, n-1)
	if err != nil {
		return 0, err
	}
	b, err := Fib(ctx, n-2)
	return a + b, err
}

// Parity asks two functions that call each other.
func Parity(_ context.Context, n int) (string, error) {
	if even(n) {
		return "even", nil
	}
	return "odd", nil
}

func even(n int) bool {
	if n == 0 {
		return true
	}
	return odd(n - 1)
}

func odd(n int) bool {
	if n == 0 {
		return false
	}
	return even(n - 1)
}

// Safe makes values of panics.
func Safe(_ context.Context, n int) (out string, err error) {
	defer func() {
		if r := recover(); r != nil {
			out = rescue(r)
		}
	}()
	if n%2 == 0 {
		panic(nil)
	}
	return fmt.Sprint(10 / (n - n)), nil
}

func rescue(r any) string { return fmt.Sprintf("rescued: %v", r) }

// Search leaves two loops at once. Its local names are those of others.
func Search(_ context.Context, limit int) (int, error) {
	found, gain, Fib := 0, 1, len("abc")
outer:
	for a := 1; a < limit; a++ {
		for b := a; b < limit; b++ {
			if a*b > limit {
				continue outer
			}
			if a*b*gain == limit {
				found = min(a*Fib, b)
				break outer
			}
		}
	}
	return found, nil
}

// Compose uses closures that a helper returns.
func Compose(_ context.Context, n int) (int, error) {
	f, g := adder(3), times(5)
	return g(f(n)), nil
}

// Narrow converts to a type of the language.
func Narrow(_ context.Context, s string) (string, error) {
	n := uint8(200)
	n += 100
	return fmt.Sprint(s, n), nil
}
