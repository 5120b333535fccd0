// Package op provides the operators of Larder, which compute datasets from datasets.
//
// Each is a component (package component): shuffle in a flow file, larder op shuffle on
// the command line, and in Go its parameter struct, [Shuffle], which a flow.Builder
// accepts. There are four kinds:
//
//   - An order, such as [Slice] or [Repeat], maps positions to samples. It reads
//     nothing, and can be inverted (package order).
//   - A join, such as [Cat] or [Zip], makes one dataset of several.
//   - A split, such as [Split] or [GroupBy], makes several named datasets of one.
//   - Some operators read samples. [Filter], [Sort], [GroupBy] and [WeightedSample]
//     evaluate an expression over the items of every sample when applied, and
//     [Memorize] reads everything. [MapIf] reads a sample when it is requested.
//
// An expression is a formula in the language of expr-lang that names items:
// metadata.color == "red". A name that is called is a function; any other name is an
// item, even if a function has that name. An expression reads nothing but items, cannot
// read the clock, and terminates. Its results for a whole dataset are cached under a
// key that covers its source and the items that it names.
//
// Random draws are a function of the seed, the epoch and the numbers of samples, and
// the same on every run. Check refuses invalid parameters before anything is read.
// Output datasets are lazy like the inputs, and safe for concurrent use.
package op

import (
	"fmt"
	"slices"
)

func notNegative(name string, v int) error {
	if v < 0 {
		return fmt.Errorf("%s is %d; give 0 or more", name, v)
	}
	return nil
}

func positive(name string, v int) error {
	if v < 1 {
		return fmt.Errorf("%s is %d; give at least 1", name, v)
	}
	return nil
}

// oneOf refuses a value that is not listed. The enum of the parameter checks flow
// files; this check is for programs.
func oneOf(name, v string, valid ...string) error {
	if !slices.Contains(valid, v) {
		return fmt.Errorf("%s cannot be %q; valid: %q", name, v, valid)
	}
	return nil
}
