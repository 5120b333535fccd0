package order

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// A Part is the size of one part of a split: [Count], [Fraction] or [Rest].
type Part struct {
	count    int
	fraction float64
	kind     partKind
}

type partKind int

const (
	countPart partKind = iota
	fractionPart
	restPart
)

// Count returns a part of n elements.
func Count(n int) Part { return Part{count: n} }

// Fraction returns a part with the share f of all elements.
func Fraction(f float64) Part { return Part{fraction: f, kind: fractionPart} }

// Rest returns a part with all elements that the others leave.
func Rest() Part { return Part{kind: restPart} }

// Split returns the number of elements of each part. All n elements are assigned:
// fractions that add up to one are rounded by the largest remainder, the earlier part
// first where remainders are equal; otherwise one part must be the rest.
func Split(n int, parts ...Part) ([]int, error) {
	sizes := make([]int, len(parts))
	remainders := make([]float64, len(parts))
	rest, used, share := -1, 0, 0.0
	for i, p := range parts {
		switch p.kind {
		case countPart:
			sizes[i] = p.count
		case fractionPart:
			exact := p.fraction * float64(n)
			whole := math.Floor(exact + tolerance)
			sizes[i], remainders[i] = int(whole), exact-whole
			share += p.fraction
		case restPart:
			if rest >= 0 {
				return nil, fmt.Errorf("a split has several rests; give at most one")
			}
			rest = i
		}
		if sizes[i] < 0 {
			return nil, fmt.Errorf("part %d of a split has a negative size", i)
		}
		used += sizes[i]
	}
	if rest < 0 && math.Abs(share-1) < tolerance {
		used += roundUp(sizes, remainders, n-used)
	}
	if used > n {
		return nil, fmt.Errorf("the parts need %d elements but there are %d; shrink them, or make one null: the rest", used, n)
	}
	if rest >= 0 {
		sizes[rest] = n - used
	} else if used < n {
		return nil, fmt.Errorf("the parts use %d of %d elements; make one null, or set rest: drop", used, n)
	}
	return sizes, nil
}

// tolerance compensates for inexact fractions such as 0.1.
const tolerance = 1e-9

// roundUp adds one missing element each to the parts with the largest remainders.
func roundUp(sizes []int, remainders []float64, missing int) (given int) {
	order := make([]int, len(sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(remainders[b], remainders[a]) })
	for given < missing && given < len(order) {
		sizes[order[given]]++
		given++
	}
	return given
}
