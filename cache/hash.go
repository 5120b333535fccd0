package cache

import "hash/maphash"

// newHash returns a function that hashes keys to 64 bits. The hashes of positions are
// fixed, so that runs of a policy can be repeated.
func newHash[K comparable]() func(k K) uint64 {
	if h, ok := any(spread).(func(K) uint64); ok {
		return h
	}
	seed := maphash.MakeSeed()
	return func(k K) uint64 { return maphash.Comparable(seed, k) }
}

// spread is the finalizer of SplitMix64 (Steele, Lea and Flood, Fast Splittable
// Pseudorandom Number Generators, 2014).
func spread(k int) uint64 {
	h := uint64(k) + 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
