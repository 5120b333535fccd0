package cache

import "time"

// candidates are the policies that auto chooses from: all that have a bound and do not
// know the future.
var candidates = [...]string{"lru", "hold", "w-tinylfu", "s3-fifo", "sieve", "mru", "lifo", "fifo", "cost", "rr"}

// shadowSize is the largest cache, in entries, whose shadows see all keys.
const shadowSize = 2048

// shadows are caches of keys without values, one for each candidate. Those of a large
// cache see a sample of the keys (Waldspurger et al., Efficient MRC Construction with
// SHARDS, FAST 2015). A sampled access costs an access to each of the caches, about a
// microsecond; a key in all of them takes about 850 bytes.
type shadows[K comparable] struct {
	rate uint64 // one in rate keys is sampled
	hash func(k K) uint64
	all  [len(candidates)]*Cache[K, struct{}]

	// The last key read, and the shadows that miss it: most often it is put next.
	last    K
	lacking uint
	led     int
}

// newShadows returns empty shadows of a cache that is full with the given entries.
// Their keys are hashed, because pages would be nearly empty.
func newShadows[K comparable](o Options, entries int, hash func(k K) uint64) *shadows[K] {
	rate := max(1, (entries+shadowSize-1)/shadowSize)
	s := &shadows[K]{rate: uint64(rate), hash: hash, lacking: 1<<len(candidates) - 1}
	part := Options{Size: (o.Size + rate - 1) / rate, Bytes: (o.Bytes + int64(rate) - 1) / int64(rate)}
	for i, name := range candidates {
		c := &Cache[K, struct{}]{options: part, entries: &hashed[K, struct{}]{hash: hash}}
		c.follow(candidate[K, struct{}](name))
		s.all[i] = c
	}
	return s
}

// fit reports whether the sample has a suitable size for a cache that is full with the
// given entries.
func (s *shadows[K]) fit(entries int) bool {
	sampled := entries / int(s.rate)
	return sampled <= 4*shadowSize && (s.rate == 1 || sampled >= shadowSize/8)
}

func candidate[K comparable, V any](name string) policy[K, V] {
	p, err := newPolicy[K, V](Options{Policy: name}, nil)
	if err != nil {
		panic(err)
	}
	return p
}

func (s *shadows[K]) watch(k K) bool { return s.rate == 1 || s.hash(k)%s.rate == 0 }

// read reads a key in all shadows, and counts the hits.
func (s *shadows[K]) read(k K, hits []float64) {
	s.last, s.lacking = k, 0
	for i, c := range s.all {
		if c.read(k) != nil {
			hits[i]++
		} else {
			s.lacking |= 1 << i
		}
	}
}

// put stores a key in the shadows that miss it.
func (s *shadows[K]) put(k K, bytes int64, cost time.Duration) {
	known := k == s.last
	if known && s.lacking == 0 {
		return
	}
	for i, c := range s.all {
		if known && s.lacking&(1<<i) == 0 || !known && c.entries.get(k) != nil {
			continue
		}
		c.put(k, struct{}{}, bytes, cost)
	}
	s.last, s.lacking = k, 0
}

// replay applies an earlier access to all shadows.
func (s *shadows[K]) replay(k K, bytes int64, cost time.Duration, read bool) {
	for _, c := range s.all {
		if read {
			c.read(k)
			continue
		}
		if c.begin != nil {
			c.begin(k)
		}
		c.put(k, struct{}{}, bytes, cost)
	}
}

func (s *shadows[K]) resize(k K, bytes int64) {
	for _, c := range s.all {
		if e := c.entries.get(k); e != nil && e.bytes != bytes {
			c.resize(e, bytes)
			c.shrink(e)
		}
	}
}

func (s *shadows[K]) remove(k K) {
	for i, c := range s.all {
		if e := c.entries.get(k); e != nil {
			c.drop(e)
		}
		if k == s.last {
			s.lacking |= 1 << i
		}
	}
}

// holds returns a function that reports which keys a shadow holds.
func (s *shadows[K]) holds(i int) func(k K) bool {
	entries := s.all[i].entries
	return func(k K) bool { return entries.get(k) != nil }
}

// setGone sets gone for one shadow and removes it from the others.
func (s *shadows[K]) setGone(i int, gone func(k K)) {
	s.all[s.led].gone = nil
	s.led = i
	s.all[i].gone = gone
}
