package cache

// follower holds the entries that a leader holds. Entries that the leader does not hold
// are stale. They are evicted first, the oldest before others, but only when their
// space is needed. So whenever the leader has a hit and the cache a miss, they gain a
// common entry. If all entries have one size, this happens at most once per entry.
type follower[K comparable, V any] struct {
	entries         index[K, V]
	holds           func(k K) bool // whether the leader holds k
	retained, stale list[K, V]
}

func newFollower[K comparable, V any](entries index[K, V], holds func(k K) bool) *follower[K, V] {
	return &follower[K, V]{entries: entries, holds: holds, retained: newList[K, V](), stale: newList[K, V]()}
}

// of returns the list of an entry, which its field visited indicates.
func (f *follower[K, V]) of(e *entry[K, V]) list[K, V] {
	if e.visited {
		return f.retained
	}
	return f.stale
}

func (f *follower[K, V]) insert(e *entry[K, V]) {
	e.visited = f.holds(e.key)
	f.of(e).insert(e)
}

// hit makes an entry current that the leader has taken in since.
func (f *follower[K, V]) hit(e *entry[K, V]) {
	if !e.visited && f.holds(e.key) {
		f.remove(e)
		f.insert(e)
	}
}

func (f *follower[K, V]) remove(e *entry[K, V]) { f.of(e).remove(e) }

// left is called when the leader removed k.
func (f *follower[K, V]) left(k K) {
	if e := f.entries.get(k); e != nil && e.visited {
		f.remove(e)
		e.visited = false
		f.stale.insert(e)
	}
}

func (f *follower[K, V]) victim(*entry[K, V]) *entry[K, V] { return f.stale.oldest() }
