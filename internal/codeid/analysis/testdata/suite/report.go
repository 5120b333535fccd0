package main

import (
	"context"
	"embed"
	"fmt"

	"github.com/larder-data/larder/codeid"
	"github.com/larder-data/larder/lazy"

	"suite/tables"
)

//go:embed *.go
var files embed.FS

var _ = codeid.Register(files)

// Functions of package main: named, and literals without captures.
var (
	lazyReport = lazy.Func1("report", report)
	lazyDouble = lazy.Func1("double", func(_ context.Context, s string) (string, error) { return s + s + ending, nil })
	lazyTriple = lazy.Func1("triple", func(_ context.Context, s string) (string, error) {
		return s + "-" + s + "-" + s, nil
	})
	lazyScore = lazy.Func1("score", score)
)

// Two literals on one line.
var lazyLeft, lazyRight = lazy.Func1("left", func(_ context.Context, s string) (string, error) { return "<" + s, nil }), lazy.Func1("right", func(_ context.Context, s string) (string, error) { return s + ">", nil })

const ending = "."

func report(ctx context.Context, name string) (string, error) {
	price, err := tables.Price(ctx, name)
	return fmt.Sprintf("%s costs %d%s", name, price, currency), err
}

var currency = "€"

func score(_ context.Context, s string) (string, error) {
	return fmt.Sprint(len(s) * len(s)), nil
}
