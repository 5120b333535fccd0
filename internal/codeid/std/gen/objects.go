package main

import (
	"math/bits"
	"slices"
)

// objects is a set of objects, by number.
type objects []uint64

func (s objects) has(i int) bool { return i/64 < len(s) && s[i/64]>>(i%64)&1 != 0 }

func (s objects) empty() bool { return !slices.ContainsFunc(s, func(w uint64) bool { return w != 0 }) }

// add reports whether the set grew.
func (s *objects) add(i int) bool {
	for len(*s) <= i/64 {
		*s = append(*s, 0)
	}
	if s.has(i) {
		return false
	}
	(*s)[i/64] |= 1 << (i % 64)
	return true
}

// join adds t, and reports whether the set grew.
func (s *objects) join(t objects) (grew bool) {
	for len(*s) < len(t) {
		*s = append(*s, 0)
	}
	for i, w := range t {
		if (*s)[i]|w != (*s)[i] {
			(*s)[i] |= w
			grew = true
		}
	}
	return grew
}

func (s objects) all(yield func(int) bool) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			if !yield(64*i + bits.TrailingZeros64(w)) {
				return
			}
		}
	}
}

// below returns the members less than n.
func (s objects) below(n int) (t objects) {
	for i := range s.all {
		if i < n {
			t.add(i)
		}
	}
	return t
}
