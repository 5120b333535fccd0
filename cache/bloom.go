package cache

// bloom is a set of hashes with twelve bits per hash. Its false positive rate is one in
// three hundred (Bloom, Space/Time Trade-offs in Hash Coding with Allowable Errors,
// 1970).
type bloom []uint64

func newBloom(n int) bloom { return make(bloom, n*12/64+1) }

// bits is the number of bits set per hash.
const bits = 6

// at returns one of the bits of a hash, and its word.
func (b bloom) at(hash uint64, i int) (word *uint64, bit uint64) {
	hash += uint64(i) * (hash>>32 | 1) * 0x9e3779b97f4a7c15
	hash ^= hash >> 29
	n := hash % uint64(64*len(b))
	return &b[n/64], 1 << (n % 64)
}

func (b bloom) add(hash uint64) {
	for i := range bits {
		word, bit := b.at(hash, i)
		*word |= bit
	}
}

func (b bloom) has(hash uint64) bool {
	for i := range bits {
		if word, bit := b.at(hash, i); *word&bit == 0 {
			return false
		}
	}
	return true
}
