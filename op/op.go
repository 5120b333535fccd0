// Package op holds the operators that come with Larder: what makes datasets from
// datasets.
//
// Each is a component (package component) of its name: shuffle in a flow file,
// larder op shuffle on the command line, and in Go its parameter struct,
// [Shuffle], which a flow.Builder takes. There are four sorts:
//
//   - An order, such as [Slice] or [Repeat], only says which sample is read at
//     which position. It reads nothing, and can be inverted (package order).
//   - A join, such as [Cat] or [Zip], makes one dataset of several.
//   - A split, such as [Split] or [GroupBy], makes several of one, under names.
//   - What looks at samples: [Filter], [Sort], [GroupBy] and [WeightedSample]
//     evaluate an expression over the items of every sample when they are
//     applied, and [Memorize] reads all there is. [MapIf] looks at a sample when
//     that is asked for.
//
// An expression is a formula in the language of expr-lang that names items:
// metadata.color == "red". A name that is called is a function, any other an item,
// also if a function has that name. It reads nothing else, knows no clock and ends;
// what it came out as for a whole dataset is kept under a key that covers its text
// and the items that it names.
//
// What is drawn at random is a function of the seed, the epoch and the numbers of
// samples, and the same on every run. Check refuses parameters that cannot be
// right before anything is read. Datasets that come out are lazy, as those that
// went in, and may be read by many goroutines.
package op

import (
	"fmt"
	"slices"
)

// notNegative refuses a number below zero.
func notNegative(name string, v int) error {
	if v < 0 {
		return fmt.Errorf("%s is %d and must not be negative", name, v)
	}
	return nil
}

// positive refuses a number below one.
func positive(name string, v int) error {
	if v < 1 {
		return fmt.Errorf("%s is %d and must be at least 1", name, v)
	}
	return nil
}

// oneOf refuses a value that is not listed. Flow files are checked against the
// enum of the parameter; this is for programs.
func oneOf(name, v string, valid ...string) error {
	if !slices.Contains(valid, v) {
		return fmt.Errorf("%s cannot be %q; valid: %q", name, v, valid)
	}
	return nil
}
