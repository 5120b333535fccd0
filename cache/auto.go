package cache

// auto does as the policy that has done best lately. Beside the cache it runs
// each candidate as a shadow, which holds keys and no values; of a large cache
// the shadows see a sample of the keys and are as much smaller.
type auto[K comparable, V any] struct {
	policy[K, V]        // the one in use
	name         string // of that one
	entries      index[K, V]

	shadows  []shadow[K]
	hash     func(k K) uint64
	rate     uint64 // one in rate keys is sampled
	accesses int    // sampled, since the last comparison
}

// shadow is a candidate at work on keys.
type shadow[K comparable] struct {
	name  string
	cache *Cache[K, struct{}]
	score float64 // hits, older ones counting less
}

// candidates are the policies that auto chooses among, the first to begin
// with.
var candidates = []string{"lru", "sieve", "s3-fifo", "lifo", "mru", "hold"}

const (
	shadowSize = 256  // keys in a shadow, about, where the cache is larger
	period     = 64   // sampled accesses between comparisons
	fade       = 0.93 // what a score keeps from one comparison to the next
	margin     = 1.02 // how much better another policy must be
)

func newAuto[K comparable, V any](entries index[K, V]) *auto[K, V] {
	return &auto[K, V]{
		policy: candidate[K, V](candidates[0]), name: candidates[0],
		entries: entries, hash: newHash[K](),
	}
}

// begin is told of every read before it is looked up.
func (a *auto[K, V]) begin(k K) {
	if len(a.shadows) == 0 || a.rate > 1 && a.hash(k)%a.rate != 0 {
		return
	}
	for i := range a.shadows {
		s := &a.shadows[i]
		if _, ok := s.cache.Get(k); ok {
			s.score++
		} else {
			s.cache.Put(k, struct{}{}, 1, 0)
		}
	}
	if a.accesses++; a.accesses == period {
		a.accesses = 0
		a.compare()
	}
}

// victim starts the shadows when the cache is full for the first time: only
// then is it known how many entries it holds.
func (a *auto[K, V]) victim(incoming *entry[K, V]) *entry[K, V] {
	if len(a.shadows) == 0 {
		a.start(max(1, a.entries.size()))
	}
	return a.policy.victim(incoming)
}

func (a *auto[K, V]) start(size int) {
	a.rate = uint64(max(1, size/shadowSize))
	for _, name := range candidates {
		c := newCacheOf[K, struct{}](Options{Size: max(1, size/int(a.rate))}, candidate[K, struct{}](name))
		a.shadows = append(a.shadows, shadow[K]{name: name, cache: c})
	}
}

// compare changes to the best candidate if it is better by a margin.
func (a *auto[K, V]) compare() {
	best, current := 0, 0
	for i, s := range a.shadows {
		if s.score > a.shadows[best].score {
			best = i
		}
		if s.name == a.name {
			current = i
		}
	}
	if a.shadows[best].score > a.shadows[current].score*margin+1 {
		a.change(a.shadows[best].name)
	}
	for i := range a.shadows {
		a.shadows[i].score *= fade
	}
}

// change hands all entries from the policy in use to another one. Their order
// is lost; it does not take long to make up for that.
func (a *auto[K, V]) change(name string) {
	next := candidate[K, V](name)
	for e := range a.entries.all() {
		a.remove(e)
		e.place, e.rank, e.visited = 0, 0, false
		next.insert(e)
	}
	a.policy, a.name = next, name
}

// candidate returns a policy that is known to be there.
func candidate[K comparable, V any](name string) policy[K, V] {
	p, err := newPolicy[K, V](name, nil)
	if err != nil {
		panic(err)
	}
	return p
}
