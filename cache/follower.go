package cache

// follower keeps what a leader, whatever that is, holds. What the leader does
// not hold is stale and goes first, the oldest before others, but it is not
// thrown away before its place is needed. So whenever the leader has a hit and
// the cache has not, they have one entry more in common; as long as no entry is
// larger than another, that happens at most once for each place.
type follower[K comparable, V any] struct {
	entries     index[K, V]
	holds       func(k K) bool // whether the leader does
	kept, stale list[K, V]
}

func newFollower[K comparable, V any](entries index[K, V], holds func(k K) bool) *follower[K, V] {
	return &follower[K, V]{entries: entries, holds: holds, kept: newList[K, V](), stale: newList[K, V]()}
}

// of returns the list that an entry is in, which is noted in visited.
func (f *follower[K, V]) of(e *entry[K, V]) list[K, V] {
	if e.visited {
		return f.kept
	}
	return f.stale
}

func (f *follower[K, V]) insert(e *entry[K, V]) {
	e.visited = f.holds(e.key)
	f.of(e).insert(e)
}

// hit keeps what the leader has taken in since.
func (f *follower[K, V]) hit(e *entry[K, V]) {
	if !e.visited && f.holds(e.key) {
		f.remove(e)
		f.insert(e)
	}
}

func (f *follower[K, V]) remove(e *entry[K, V]) { f.of(e).remove(e) }

// left is told what the leader does not hold any more.
func (f *follower[K, V]) left(k K) {
	if e := f.entries.get(k); e != nil && e.visited {
		f.remove(e)
		e.visited = false
		f.stale.insert(e)
	}
}

func (f *follower[K, V]) victim(*entry[K, V]) *entry[K, V] { return f.stale.oldest() }
