// Command suite evaluates lazy functions on a cache folder and prints what came
// of each, one JSON line a function.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"log"
	"os"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/lazy"

	"suite/calc"
	"suite/partial"
	_ "suite/plugins"
	"suite/registry"
	shape "suite/shape.v2"
	"suite/tables"
	"suite/text"
)

// A bench runs functions.
type bench struct {
	kept, empty *larder.Larder
	versions    map[string]string // instead of the sources' identity, where not nil
	out         *json.Encoder
}

// A line is what came of a function.
type line struct {
	Name     string   `json:"name"`
	Value    any      `json:"value"`
	Fresh    any      `json:"fresh"` // the value without the cache
	Computed bool     `json:"computed"`
	Error    string   `json:"error,omitempty"`
	Why      []string `json:"why,omitempty"`
}

func main() {
	dir := flag.String("cache", "", "cache `folder`")
	versions := flag.String("versions", "", "JSON `file` with a version for each function, instead of its sources")
	flag.Parse()
	if err := run(*dir, *versions); err != nil {
		log.Fatal(err)
	}
}

func run(dir, versions string) error {
	b := &bench{out: json.NewEncoder(os.Stdout)}
	if versions != "" {
		data, err := os.ReadFile(versions)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(data, &b.versions); err != nil {
			return err
		}
	}
	var err error
	if b.kept, err = larder.Open(larder.Options{Dir: dir}); err != nil {
		return err
	}
	defer b.kept.Close()
	empty, err := os.MkdirTemp("", "suite-empty-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(empty)
	if b.empty, err = larder.Open(larder.Options{Dir: empty}); err != nil {
		return err
	}
	defer b.empty.Close()

	prices := []float64{1.5, 2.25, 3}
	try(b, "sum", calc.LazySum, calc.Sum, prices)
	try(b, "grade", calc.LazyGrade, calc.Grade, 60)
	try(b, "fib", calc.LazyFib, calc.Fib, 12)
	try(b, "parity", calc.LazyParity, calc.Parity, 7)
	try(b, "safe", calc.LazySafe, calc.Safe, 4)
	try(b, "search", calc.LazySearch, calc.Search, 36)
	try(b, "compose", calc.LazyCompose, calc.Compose, 4)
	try(b, "narrow", calc.LazyNarrow, calc.Narrow, "n=")
	try(b, "largest", calc.LazyLargest, calc.Largest[int], []int{3, 9, 4})
	try(b, "total", calc.LazyTotal, nil, prices)
	try(b, "loops", calc.LazyLoops, calc.Loops, 4)
	try(b, "areas", shape.LazyAreas, shape.Areas, 3)
	try(b, "describe", shape.LazyDescribe, shape.Describe, "box")
	try(b, "measure", shape.LazyMeasure, shape.Measure, 3)
	try(b, "ordered", shape.LazyOrdered, shape.Ordered, []string{"ccc", "a", "bb"})
	try(b, "apply", shape.LazyApply, shape.Apply, 2)
	try(b, "distance", shape.LazyDistance, shape.Distance, 3)
	try(b, "walk", shape.LazyWalk, shape.Walk, 2)
	try(b, "encode", text.LazyEncode, text.Encode, "larder")
	try(b, "words", text.LazyWords, text.Words, 1)
	try(b, "phrases", text.LazyPhrases, text.Phrases, ", ")
	try(b, "system", text.LazySystem, text.System, 2)
	try(b, "lookup", text.LazyLookup, text.Lookup, "three")
	try(b, "binary", text.LazyBinary, text.Binary, "\xff\xfe\xfd")
	try(b, "smooth", text.LazySmooth, text.Smooth, prices)
	try(b, "convert", text.LazyConvert, text.Convert, 26.2)
	try(b, "each", text.LazyEach, text.Each, 4)
	try(b, "price", tables.LazyPrice, tables.Price, "pear")
	try(b, "pipeline", tables.LazyPipeline, tables.Pipeline, " ab ")
	try(b, "banner", tables.LazyBanner, tables.Banner, "larder")
	try(b, "row", tables.LazyRow, tables.Row, 2)
	try(b, "steps", tables.LazySteps, tables.Steps, ", ")
	try(b, "shared", tables.LazyShared, tables.Shared, 5)
	try(b, "bounds", tables.LazyBounds, tables.Bounds, 1)
	try(b, "run", registry.LazyRun, registry.Run, "square")
	try(b, "names", registry.LazyNames, registry.Names, " ")
	try(b, "all", registry.LazyAll, registry.All, "x")
	try(b, "part", partial.LazyPart, partial.Part, 1)
	try(b, "report", lazyReport, report, "apple")
	try(b, "double", lazyDouble, nil, 21)
	try(b, "triple", lazyTriple, nil, 7)
	try(b, "left", lazyLeft, nil, 5)
	try(b, "right", lazyRight, nil, 5)
	try(b, "score", lazyScore, score, 6)
	return nil
}

// try evaluates f on the kept cache, and beside it the function as it is, or,
// where that has no name, f on an empty cache.
func try[A, R any](b *bench, name string, f func(lazy.Value[A]) lazy.Value[R], plain func(context.Context, A) (R, error), arg A) {
	ctx := context.Background()
	if b.versions != nil {
		if plain == nil {
			return
		}
		f = lazy.Func1("versioned "+name, plain, lazy.Options{Version: b.versions[name]})
	}
	l := line{Name: name}
	l.Why, _ = lazy.Why(ctx, b.kept, f(lazy.Of(arg)))
	before := b.kept.Metrics().Computed
	if v, err := f(lazy.Of(arg)).Get(ctx, b.kept); err != nil {
		l.Error = err.Error()
	} else {
		l.Value = v
	}
	l.Computed = b.kept.Metrics().Computed > before
	if plain == nil {
		plain = func(ctx context.Context, arg A) (R, error) { return f(lazy.Of(arg)).Get(ctx, b.empty) }
	}
	if v, err := plain(ctx, arg); err == nil {
		l.Fresh = v
	}
	if err := b.out.Encode(l); err != nil {
		log.Fatal(err)
	}
}
