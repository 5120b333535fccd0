package flow

import (
	"iter"
	"math/bits"
	"slices"
)

// places is a set of nodes by their positions in a run, one bit each. It is
// immutable, so a long chain of nodes can share one.
type places []uint64

func (p places) with(at int) places {
	word, bit := at/64, uint64(1)<<(at%64)
	if word < len(p) && p[word]&bit != 0 {
		return p
	}
	q := make(places, max(len(p), word+1))
	copy(q, p)
	q[word] |= bit
	return q
}

func (p places) union(q places) places {
	switch {
	case len(q) == 0 || slices.Equal(p, q):
		return p
	case len(p) == 0:
		return q
	case len(p) < len(q):
		p, q = q, p
	}
	p = slices.Clone(p)
	for i, word := range q {
		p[i] |= word
	}
	return p
}

func (p places) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, word := range p {
			for ; word != 0; word &= word - 1 {
				if !yield(i*64 + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}
