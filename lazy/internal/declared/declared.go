// Package declared provides a package with registered sources and declared inputs, for
// tests.
package declared

import (
	"context"
	"embed"
	"fmt"
	"os"
	"time"

	"github.com/larder-data/larder/codeid"
	"github.com/larder-data/larder/lazy"
)

//go:embed *.go
var files embed.FS

var _ = codeid.Register(files, codeid.Options{Inputs: []any{&Rate, &Table, &home, &Current}})

// Variables that change while the program runs, and one that depends on the
// environment.
var (
	Rate  = 2
	Table = map[string][]int{"a": {1}}
	home  = os.Getenv("HOME")
	// Current is the shape that Drawn uses.
	Current Shape = Square{Side: 2}
)

// between is called while Slow runs.
var between func()

// SetBetween sets the function that is called while Slow runs.
func SetBetween(f func()) { between = f }

// Lazy functions of this package.
var (
	Scaled = lazy.Func1("scaled", func(_ context.Context, n int) (int, error) { return scale(n), nil })
	Looked = lazy.Func1("looked", func(_ context.Context, name string) (int, error) { return Table[name][0], nil })
	Home   = lazy.Func0("home", func(context.Context) (string, error) { return home, nil })
	Plain  = lazy.Func1("plain", func(_ context.Context, n int) (int, error) { return n + 1, nil })
	Slow   = lazy.Func1("slow", func(_ context.Context, n int) (int, error) { between(); return scale(n), nil }, lazy.Options{Pure: []string{"github.com/larder-data/larder/lazy/internal/declared.between"}})
	Area   = lazy.Func1("area", func(_ context.Context, s Shape) (int, error) { return s.Edge() * s.Edge(), nil })
	Drawn  = lazy.Func0("drawn", func(context.Context) (int, error) { return Current.Edge(), nil })
	Text   = lazy.Func1("text", func(_ context.Context, v any) (string, error) { return fmt.Sprint(v), nil })
)

// Framed captures a shape and declares it.
func Framed(s Shape) lazy.Value[int] {
	return lazy.Func0("framed", func(context.Context) (int, error) {
		return s.Edge() + 1, nil
	}, lazy.Options{Captured: map[string]any{"s": s}})()
}

func scale(n int) int { return n * Rate }

// A Shape has an edge.
type Shape interface{ Edge() int }

// A Square is a shape with a constant edge.
type Square struct{ Side int }

// Edge returns its side.
func (s Square) Edge() int { return s.Side }

// A Moody shape depends on the clock.
type Moody struct{ Side int }

// Edge returns a different value each time.
func (m Moody) Edge() int { return m.Side + time.Now().Nanosecond() }

// Shapes has a value of each Shape.
var Shapes = []Shape{Square{}, Moody{}}
