package tables

import (
	"context"
	"fmt"
	"strings"

	"github.com/larder-data/larder/lazy"
)

// The functions of this package, as lazy ones.
var (
	LazyPrice    = lazy.Func1("price", Price)
	LazyPipeline = lazy.Func1("pipeline", Pipeline)
	LazyBanner   = lazy.Func1("banner", Banner)
	LazyRow      = lazy.Func1("row", Row)
	LazySteps    = lazy.Func1("steps", Steps)
	LazyShared   = lazy.Func1("shared", Shared)
	LazyBounds   = lazy.Func1("bounds", Bounds)
)

var prices = map[string]int{"apple": 3, "pear": 4}

// Price reads a table that init changes under another name.
func Price(_ context.Context, fruit string) (int, error) { return prices[fruit] + tax, nil }

// Pipeline calls functions out of a slice and a map.
func Pipeline(_ context.Context, s string) (string, error) {
	for _, stage := range stages {
		s = stage(s)
	}
	return named["last"](s), nil
}

var stages = []func(string) string{strings.TrimSpace, upper, quote}

var named = map[string]func(string) string{"last": exclaim, "other": strings.ToLower}

func upper(s string) string   { return strings.ToUpper(s) }
func quote(s string) string   { return `"` + s + `"` }
func exclaim(s string) string { return s + "!" }

// Version can be set by the linker.
var Version = "dev"

// Banner says a version.
func Banner(_ context.Context, name string) (string, error) { return name + " " + Version, nil }

// Row reads an array through another variable, and a row that init fills.
func Row(_ context.Context, i int) (int, error) { return (*alias)[i] + first[i], nil }

var (
	rows  = [3]int{10, 20, 30}
	alias = &rows
	first = make([]int, 3)
)

// Steps reads what several files' init appended.
func Steps(_ context.Context, sep string) (string, error) { return strings.Join(order, sep), nil }

// Shared reads a structure that a function hands out.
func Shared(_ context.Context, n int) (string, error) {
	return fmt.Sprint(settings.depth*n, settings.name), nil
}

type options struct {
	depth int
	name  string
}

var settings = options{depth: 2, name: "shared"}

func current() *options { return &settings }

var least, most = bounds()

func bounds() (int, int) { return 2, 8 }

// Bounds reads one of two variables that a call fills.
func Bounds(_ context.Context, n int) (int, error) { return max(n, least), nil }
