// Command suite evaluates lazy functions on a cache folder and prints what came
// of each, one JSON line a function.
package main

import (
	"flag"
	"log"

	"suite/bench"
	"suite/calc"
	"suite/partial"
	_ "suite/plugins"
	"suite/registry"
	shape "suite/shape.v2"
	"suite/tables"
	"suite/text"
)

func main() {
	dir := flag.String("cache", "", "cache `folder`")
	versions := flag.String("versions", "", "JSON `file` with a version for each function, instead of its sources")
	flag.Parse()
	if err := run(*dir, *versions); err != nil {
		log.Fatal(err)
	}
}

func run(dir, versions string) error {
	b, err := bench.Open(dir, versions)
	if err != nil {
		return err
	}
	defer b.Close()
	calc.Try(b)
	shape.Try(b)
	text.Try(b)
	tables.Try(b)
	registry.Try(b)
	partial.Try(b)
	bench.Try(b, "report", lazyReport, report, "apple")
	bench.Try(b, "double", lazyDouble, nil, "twice")
	bench.Try(b, "triple", lazyTriple, nil, "thrice")
	bench.Try(b, "left", lazyLeft, nil, "x")
	bench.Try(b, "right", lazyRight, nil, "x")
	bench.Try(b, "score", lazyScore, score, "six")
	return nil
}
