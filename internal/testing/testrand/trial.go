// Package testrand says how much the tests try. What is ordinary takes a part of
// the cases, another one each time, so that it is quick and in time tries all;
// LARDER_SUITE=all in the environment has all of them tried.
package testrand

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// All reports whether a test is to try all that it can.
func All() bool { return os.Getenv("LARDER_SUITE") == "all" }

// Rounds is how often a test does what it leaves to chance: some times, or so
// often where all is asked for.
func Rounds(some, all int) int {
	if All() {
		return all
	}
	return some
}

// Chance returns random numbers that are others each time. The test logs their
// seed, with which LARDER_SEED has them drawn again; CI sets it from the commit.
func Chance(tb testing.TB) *rand.Rand {
	tb.Helper()
	seed := rand.Uint64()
	if given := os.Getenv("LARDER_SEED"); given != "" {
		var err error
		if seed, err = strconv.ParseUint(given, 10, 64); err != nil {
			tb.Fatalf("LARDER_SEED is %q; it is a whole number, such as a test has logged", given)
		}
	}
	tb.Logf("chance: LARDER_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// Some lists one in every so many of the numbers 0 to n-1, or all where that is
// asked for.
func Some(tb testing.TB, n, every int) (list []int) {
	tb.Helper()
	first, step := 0, 1
	if !All() {
		first, step = Chance(tb).IntN(min(every, n)), every
	}
	for i := first; i < n; i += step {
		list = append(list, i)
	}
	return list
}
