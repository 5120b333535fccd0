package order

import (
	"fmt"
	"math/bits"
)

// Shuffle returns a random order of n elements that depends on seed, epoch and n only
// and never changes between versions. It needs no memory: the order is a keyed
// bijection on [0, n), forward and inverse in constant time.
func Shuffle(n int, seed, epoch uint64) (Order, error) {
	if n < 0 {
		return nil, fmt.Errorf("cannot shuffle %d elements; give 0 or more", n)
	}
	return newShuffled(n, seed, epoch), nil
}

func newShuffled(n int, seed, epoch uint64) shuffled {
	return shuffled{
		N: n, Seed: seed, Epoch: epoch,
		half: uint(bits.Len64(uint64(max(n-1, 1)))+1) / 2,
		key:  EpochSeed(seed, epoch),
	}
}

// shuffled is the result of [Shuffle]: N elements in a random order.
//
// It is a balanced Feistel network of 8 rounds on the smallest even number of bits that
// holds N. It walks along the cycles until it lands below N (Black and Rogaway, Ciphers
// with Arbitrary Finite Domains, 2002). Its round function is the finaliser of
// SplitMix64, which mixes well but is not cryptographic.
type shuffled struct {
	N           int
	Seed, Epoch uint64
	half        uint   // bits of each half
	key         uint64 // of the first round; each next one adds golden
}

const (
	rounds = 8
	golden = 0x9e3779b97f4a7c15

	lastKey = rounds * golden & (1<<64 - 1)
)

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Len implements Order.
func (s shuffled) Len() int { return s.N }

// OncePerPass implements Passes.
func (shuffled) OncePerPass() bool { return true }

// At implements Order.
func (s shuffled) At(pos int) int {
	checkPos(pos, s.N)
	x := uint64(pos)
	mask := uint64(1)<<s.half - 1
	for {
		left, right := x>>s.half, x&mask
		k := s.key
		for range rounds {
			left, right = right, left^mix(right^k)&mask
			k += golden
		}
		if x = left<<s.half | right; x < uint64(s.N) {
			return int(x)
		}
	}
}

// Next implements Order: each index is read once.
func (s shuffled) Next(index, after int) (int, bool) {
	if index < 0 || index >= s.N {
		return 0, false
	}
	pos := s.inverse(uint64(index))
	return pos, pos > after
}

func (s shuffled) inverse(x uint64) int {
	mask := uint64(1)<<s.half - 1
	for {
		left, right := x>>s.half, x&mask
		k := s.key + lastKey
		for range rounds {
			k -= golden
			left, right = right^mix(left^k)&mask, left
		}
		if x = left<<s.half | right; x < uint64(s.N) {
			return int(x)
		}
	}
}
