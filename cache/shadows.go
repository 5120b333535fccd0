package cache

import "time"

// candidates are the policies that auto chooses among: all that have a bound and do not
// know the future.
var candidates = [...]string{"lru", "hold", "w-tinylfu", "s3-fifo", "sieve", "mru", "lifo", "fifo", "cost", "rr"}

// shadowSize is how many entries a cache may have so that shadows see all keys.
const shadowSize = 2048

// shadows are caches that hold keys and no values, one for each candidate. Of a
// large cache they see a sample of the keys (Waldspurger et al., Efficient MRC
// Construction with SHARDS, FAST 2015). An access that they see costs what
// accesses to so many caches cost, about a microsecond; a key in all of them
// takes about 850 bytes.
type shadows[K comparable] struct {
	rate uint64 // one in rate keys is watched
	hash func(k K) uint64
	all  [len(candidates)]*Cache[K, struct{}]

	// What was read last, and which shadows do not have it: most often it is
	// put next.
	last    K
	lacking uint
	led     int
}

// newShadows returns empty shadows of a cache that is full with so many entries.
// Their keys are hashed: pages would be nearly empty.
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

// fit reports whether the sample is neither much too small nor much too large
// for a cache that is full with so many entries by now.
func (s *shadows[K]) fit(entries int) bool {
	sampled := entries / int(s.rate)
	return sampled <= 4*shadowSize && (s.rate == 1 || sampled >= shadowSize/8)
}

// candidate returns a policy that is known to be there.
func candidate[K comparable, V any](name string) policy[K, V] {
	p, err := newPolicy[K, V](Options{Policy: name}, nil)
	if err != nil {
		panic(err)
	}
	return p
}

func (s *shadows[K]) watch(k K) bool { return s.rate == 1 || s.hash(k)%s.rate == 0 }

// read has all read a key, and counts the hits.
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

// put has those take in a key that lack it.
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

// replay has all go through what happened before they were there.
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

// holds returns what tells which keys one of them holds.
func (s *shadows[K]) holds(i int) func(k K) bool {
	entries := s.all[i].entries
	return func(k K) bool { return entries.get(k) != nil }
}

// tell has one of them, and no other, tell what goes.
func (s *shadows[K]) tell(i int, gone func(k K)) {
	s.all[s.led].gone = nil
	s.led = i
	s.all[i].gone = gone
}
