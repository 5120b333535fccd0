package shape

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"github.com/larder-data/larder/lazy"

	geometry "suite/flat"
)

// The functions of this package, as lazy ones.
var (
	LazyAreas    = lazy.Func1("areas", Areas)
	LazyDescribe = lazy.Func1("describe", Describe)
	LazyMeasure  = lazy.Func1("measure", Measure)
	LazyOrdered  = lazy.Func1("ordered", Ordered)
	LazyApply    = lazy.Func1("apply", Apply)
	LazyDistance = lazy.Func1("distance", Distance)
	LazyWalk     = lazy.Func1("walk", Walk)
	LazyFeet     = lazy.Lift1("feet", Metres.Feet)
)

// A Shape has an area.
type Shape interface{ Area() float64 }

// Areas calls a method of an interface.
func Areas(_ context.Context, size float64) (string, error) {
	var areas []string
	for _, s := range all(size) {
		areas = append(areas, fmt.Sprint(s.Area()))
	}
	return strings.Join(areas, " "), nil
}

func all(size float64) []Shape {
	return []Shape{Square{size}, &Circle{radius: size}, Box{Square: Square{size}, height: 2}}
}

// Describe prints a value whose methods nobody names.
func Describe(_ context.Context, name string) (string, error) {
	return fmt.Sprintf("%s: %v, %v", name, label(name), crate(name)), nil
}

// Measure prints a type that is another package's by another name.
func Measure(_ context.Context, n int) (string, error) { return fmt.Sprint(step(n)), nil }

// Ordered sorts by the package sort, which calls three methods.
func Ordered(_ context.Context, text string) (string, error) {
	words := strings.Fields(text)
	sort.Sort(byLength(words))
	return strings.Join(words, " "), nil
}

// Apply uses methods as functions.
func Apply(_ context.Context, size float64) (float64, error) {
	ops := map[string]func(Square) float64{"area": Square.Area, "edge": Square.Edge}
	grow := (*Circle).Grow
	c := &Circle{radius: size}
	grow(c)
	shrink := c.Shrink
	shrink()
	return ops["area"](Square{size}) + ops["edge"](Square{size}) + c.radius, nil
}

// Distance calls what an import names.
func Distance(_ context.Context, a float64) (float64, error) {
	return geometry.Distance(a, 4), nil
}

// Walk ranges over a function.
func Walk(_ context.Context, n int) (string, error) {
	var out []string
	for corner := range (Square{float64(n)}).Corners {
		out = append(out, fmt.Sprint(corner))
	}
	return strings.Join(out, " "), nil
}

// Metres are a length.
type Metres float64

// Feet is a lazy function itself.
func (m Metres) Feet() string { return fmt.Sprint(float64(m) * 3.28) }
