// Package testrand provides random subsets of test cases. By default a test runs a
// different part of its cases each time, so it is quick and covers all over time, and
// tests that take seconds are skipped. LARDER_SUITE=long in the environment runs these,
// too, and LARDER_SUITE=all runs all cases of all tests.
package testrand

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Long skips a test that takes seconds, unless LARDER_SUITE requests it.
func Long(tb testing.TB) {
	tb.Helper()
	if os.Getenv("LARDER_SUITE") == "" {
		tb.Skip("takes seconds; LARDER_SUITE=long runs it")
	}
}

// All reports whether tests run all their cases.
func All() bool { return os.Getenv("LARDER_SUITE") == "all" }

// Rounds returns the number of rounds of a randomized test: some by default, or all if
// all cases are requested.
func Rounds(some, all int) int {
	if All() {
		return all
	}
	return some
}

// New returns random numbers with a different seed each time. The test logs the seed,
// which LARDER_SEED sets to repeat a run; CI sets it from the commit.
func New(tb testing.TB) *rand.Rand {
	tb.Helper()
	seed := rand.Uint64()
	if given := os.Getenv("LARDER_SEED"); given != "" {
		var err error
		if seed, err = strconv.ParseUint(given, 10, 64); err != nil {
			tb.Fatalf("LARDER_SEED is %q; it is an integer, such as a test has logged", given)
		}
	}
	tb.Logf("random numbers: LARDER_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// Some returns about one in every of the numbers 0 to n-1, or all if all cases are
// requested.
func Some(tb testing.TB, n, every int) (list []int) {
	tb.Helper()
	first, step := 0, 1
	if !All() {
		first, step = New(tb).IntN(min(every, n)), every
	}
	for i := first; i < n; i += step {
		list = append(list, i)
	}
	return list
}
