package order

import (
	"fmt"
	"math"
	"slices"
)

// A Stop says where an order of several pools ends.
type Stop int

// Stops of [Blend].
const (
	AfterDraws Stop = iota // after a given number of positions
	FirstEnds              // when one of the pools has been read once
	AllEnd                 // when all have been; those that end sooner are read again
)

// blendSlots is the number of positions in the pattern of a [Blend]; shares are
// multiples of one position.
const blendSlots = 1 << 14

// Blend reads from several pools by weight, each in passes: every pass over a pool has
// each of its elements once, in a random order. The elements of a pool follow those of
// the pools before it. draws applies to AfterDraws only.
//
// A random pattern of 16384 positions selects the pools, and repeats. Each pool has as
// many positions in it as its weight says, rounded. So the shares are exact over each
// whole pattern, and both At and Next take constant time. A pool of weight 0 is never
// read. A positive weight too small for one position is an error.
func Blend(seed uint64, stop Stop, draws int, pools ...Pool) (Order, error) {
	b := &blend{}
	shares, err := sharesOf(pools)
	if err != nil {
		return nil, err
	}
	b.weave(newShuffled(blendSlots, seed, 0), shares)
	start := 0
	for k, p := range pools {
		b.starts = append(b.starts, start)
		start += p.N
		b.pools = append(b.pools, shuffles{N: p.N, Seed: mix(mix(seed^blendSeed) + uint64(k)*golden)})
	}
	if b.n, err = b.end(stop, draws); err != nil {
		return nil, err
	}
	for k, p := range pools {
		if drawn := b.drawn(k, b.n); drawn > 0 {
			b.pools[k].Epochs = (drawn-1)/p.N + 1
		}
	}
	return b, nil
}

func checkPool(i int, p Pool) error {
	switch {
	case p.N < 0:
		return fmt.Errorf("pool %d: %d elements; give it 0 or more", i, p.N)
	case !(p.Weight >= 0):
		return fmt.Errorf("pool %d: weight %v; give it 0 or more", i, p.Weight)
	case p.N == 0 && p.Weight > 0:
		return fmt.Errorf("pool %d: no elements to draw; leave it out, or give it weight 0", i)
	}
	return nil
}

const blendSeed = 0x626c656e64000000 // "blend"

// sharesOf returns the number of positions that each pool has in the pattern.
func sharesOf(pools []Pool) ([]int, error) {
	sum := 0.0
	for i, p := range pools {
		if err := checkPool(i, p); err != nil {
			return nil, err
		}
		sum += p.Weight
	}
	if !(sum > 0) || math.IsInf(sum, 1) {
		return nil, fmt.Errorf("the weights of the pools add up to %v; give positive weights", sum)
	}
	parts := make([]Part, len(pools))
	for i, p := range pools {
		parts[i] = Fraction(p.Weight / sum)
	}
	shares, err := Split(blendSlots, parts...)
	if err != nil {
		return nil, err
	}
	for i, p := range pools {
		if p.Weight == 0 {
			continue
		}
		if shares[i] == 0 {
			return nil, fmt.Errorf("pool %d has less than 1/%d of all weights; raise it, or give 0 to leave it out", i, blendSlots)
		}
	}
	return shares, nil
}

type blend struct {
	n      int
	pools  []shuffles
	starts []int // first index of each pool

	pool  []int32   // of each position of the pattern
	rank  []int32   // number of earlier positions of the same pool
	where [][]int32 // positions in the pattern, by pool
}

// weave creates the pattern of shares in the order of a shuffle.
func (b *blend) weave(s shuffled, shares []int) {
	ends, sum := make([]int, len(shares)), 0
	for k, n := range shares {
		sum += n
		ends[k] = sum
	}
	b.pool, b.rank, b.where = make([]int32, s.N), make([]int32, s.N), make([][]int32, len(shares))
	for q := range s.N {
		k, _ := slices.BinarySearch(ends, s.At(q)+1)
		b.pool[q], b.rank[q] = int32(k), int32(len(b.where[k]))
		b.where[k] = append(b.where[k], int32(q))
	}
}

func (b *blend) end(stop Stop, draws int) (int, error) {
	if stop == AfterDraws {
		if draws < 0 || draws > maxPositions {
			return 0, fmt.Errorf("cannot take %d elements; give 0 or more", draws)
		}
		return draws, nil
	}
	n := 0
	for k, p := range b.pools {
		if len(b.where[k]) == 0 {
			continue
		}
		if _, err := product(blendSlots, p.N/len(b.where[k])+1); err != nil {
			return 0, err
		}
		ends := b.position(k, p.N-1) + 1
		if n == 0 || stop == FirstEnds && ends < n || stop == AllEnd && ends > n {
			n = ends
		}
	}
	return n, nil
}

func (b *blend) position(k, i int) int {
	n := len(b.where[k])
	return i/n*blendSlots + int(b.where[k][i%n])
}

func (b *blend) drawn(k, pos int) int {
	in, _ := slices.BinarySearch(b.where[k], int32(pos%blendSlots))
	return pos/blendSlots*len(b.where[k]) + in
}

func (b *blend) Len() int { return b.n }

func (b *blend) At(pos int) int {
	checkPos(pos, b.n)
	q := pos % blendSlots
	k := b.pool[q]
	return b.starts[k] + b.pools[k].At(pos/blendSlots*len(b.where[k])+int(b.rank[q]))
}

func (b *blend) Next(index, after int) (int, bool) {
	k, exact := slices.BinarySearch(b.starts, index)
	if !exact {
		k--
	}
	for exact && k+1 < len(b.starts) && b.starts[k+1] == index { // pools without elements
		k++
	}
	if k < 0 || len(b.where[k]) == 0 {
		return 0, false
	}
	i, ok := b.pools[k].Next(index-b.starts[k], b.drawn(k, after+1)-1)
	if !ok {
		return 0, false
	}
	pos := b.position(k, i)
	return pos, pos < b.n
}
