package cache

import "slices"

// auto follows the policy with the most hits. It finds it by running all candidates on
// keys alone (see shadows). A choice decides which one to follow and when to change.
//
// For a cache of up to shadowSize entries the shadows see all keys, and auto holds the
// entries that the chosen shadow holds (see follower). It then has all hits of that
// policy except at most one per entry. For a larger cache the shadows see a sample of
// the keys and are smaller in proportion; the chosen policy takes over the entries as
// they are.
//
// auto has fewer hits than the policy that is best over all reads: at most a hundredth
// of the reads plus learning(size) hits. This is measured (TestAutoIsNearTheBest), not
// proved: a client that knows auto can construct orders that change whenever auto has
// changed.
type auto[K comparable, V any] struct {
	policy[K, V] // of the entries
	begun        func(k K)
	entries      index[K, V]
	options      Options
	hash         func(k K) uint64

	shadows  *shadows[K] // nil until the cache is full for the first time
	choice   choice
	founders bloom        // entries held at that time, in a large cache
	evicted  *entry[K, V] // by the last victim
}

// learning is the number of hits that a cache of the given size takes to find the best
// policy and to hold its entries.
func learning(size int) int { return 3*size + 50 }

func newAuto[K comparable, V any](o Options, entries index[K, V]) *auto[K, V] {
	return &auto[K, V]{policy: newFilling[K, V](), entries: entries, options: o, hash: newHash[K]()}
}

// begin is called for every read before the lookup.
func (a *auto[K, V]) begin(k K) {
	if a.begun != nil {
		a.begun(k)
	}
	if a.shadows == nil || !a.shadows.watch(k) {
		return
	}
	held := a.entries.get(k)
	a.shadows.read(k, a.choice.hits[:])
	if held != nil {
		a.shadows.put(k, held.bytes, held.cost)
	}
	if a.choice.read(held != nil) {
		a.change()
	}
}

func (a *auto[K, V]) addToShadows(e *entry[K, V]) {
	if a.shadows != nil && a.shadows.watch(e.key) {
		a.shadows.put(e.key, e.bytes, e.cost)
	}
}

func (a *auto[K, V]) insert(e *entry[K, V]) {
	a.addToShadows(e)
	a.policy.insert(e)
}

// resized is called when the bytes of an entry changed.
func (a *auto[K, V]) resized(e *entry[K, V]) {
	if a.shadows != nil && a.shadows.watch(e.key) {
		a.shadows.resize(e.key, e.bytes)
	}
}

// remove removes an entry from the shadows unless it was evicted.
func (a *auto[K, V]) remove(e *entry[K, V]) {
	if e != a.evicted && a.shadows != nil && a.shadows.watch(e.key) {
		a.shadows.remove(e.key)
	}
	a.evicted = nil
	a.policy.remove(e)
}

// victim starts the shadows when the cache is full for the first time. Only then is its
// number of entries known, and whether there is anything to choose.
func (a *auto[K, V]) victim(incoming *entry[K, V]) *entry[K, V] {
	if f, ok := a.policy.(*filling[K, V]); ok {
		past := f.past()
		if !comesBack(past) {
			a.choice.current = slices.Index(candidates[:], "hold")
		}
		a.start(past)
	} else if !a.shadows.fit(a.entries.size()) {
		a.start(comings(a.entries))
	}
	a.addToShadows(incoming)
	a.evicted = a.policy.victim(incoming)
	return a.evicted
}

// comesBack reports whether most entries were read again while the cache filled. If
// not, as in epochs, evictions would gain nothing, and the entries should stay.
func comesBack[K comparable, V any](past []event[K, V]) bool {
	again := map[K]bool{}
	came := 0
	for _, e := range past {
		if e.read {
			again[e.entry.key] = true
		} else {
			came++
		}
	}
	return 2*len(again) >= came
}

// start creates shadows, replays the past to them, and follows the same candidate as
// before.
func (a *auto[K, V]) start(past []event[K, V]) {
	a.shadows = newShadows(a.options, a.entries.size(), a.hash)
	for _, e := range past {
		if a.shadows.watch(e.entry.key) {
			a.shadows.replay(e.entry.key, e.entry.bytes, e.entry.cost, e.read)
		}
	}
	a.choice = newChoice(a.choice.current, a.entries.size()/int(a.shadows.rate), a.shadows.rate > 1)
	a.founders = nil
	if a.shadows.rate > 1 {
		a.recordFounders()
	}
	a.lead()
	for _, e := range past {
		if a.begun != nil {
			a.begun(e.entry.key)
		}
		if e.read {
			a.hit(e.entry)
		} else {
			a.policy.insert(e.entry)
		}
	}
}

// recordFounders records the entries that the cache holds now. It omits one, so that a
// follower of these has an entry to evict.
func (a *auto[K, V]) recordFounders() {
	a.founders = newBloom(a.entries.size())
	first := true
	for e := range a.entries.all() {
		if !first {
			a.founders.add(a.hash(e.key))
		}
		first = false
	}
}

func (a *auto[K, V]) change() {
	old := a.policy
	a.lead()
	for e := range a.entries.all() {
		old.remove(e)
		e.place, e.rank, e.visited = 0, 0, false
		a.policy.insert(e)
	}
}

// lead creates the policy that follows the chosen candidate. In a large cache,
// candidates that never evict start from the entries that the cache held first, and not
// from those that it happens to hold.
func (a *auto[K, V]) lead() {
	name := candidates[a.choice.current]
	a.begun = nil
	switch {
	case a.shadows.rate == 1:
		f := newFollower(a.entries, a.shadows.holds(a.choice.current))
		a.shadows.setGone(a.choice.current, f.left)
		a.policy = f
	case name == "hold" || name == "lifo":
		a.policy = newFollower(a.entries, func(k K) bool { return a.founders.has(a.hash(k)) })
	default:
		a.policy = candidate[K, V](name)
		if p, ok := a.policy.(interface{ begin(k K) }); ok {
			a.begun = p.begin
		}
	}
}
