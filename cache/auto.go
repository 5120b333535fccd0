package cache

import "slices"

// auto does as the policy that does best, which it finds out by running all of
// them beside the cache on keys alone (see shadows). Which one that is, and when
// to go over to another one, is up to a choice.
//
// Of a cache of up to shadowSize entries the shadows see everything, and the
// entries are kept that the chosen shadow keeps (see follower): from then on
// auto has all hits of that policy but for at most one for each place. Of a
// larger one they see a sample of the keys, and are as much smaller; then the
// chosen policy is handed the entries as they are.
//
// What that comes to: auto lacks at most a hundredth of the reads, and beside
// them learning(size) hits, to the policy that is best on all of them. That was
// measured (TestAutoIsNearTheBest), and is no theorem: who knows what auto does
// can make up orders that change just when it has changed.
type auto[K comparable, V any] struct {
	policy[K, V] // of the entries
	begun        func(k K)
	entries      index[K, V]
	options      Options
	hash         func(k K) uint64

	shadows  *shadows[K] // nil until the cache is full for the first time
	choice   choice
	founders bloom        // what was held then, in a large cache
	evicted  *entry[K, V] // by the last victim
}

// learning is how many hits it takes, for a cache of so many entries, to find
// the best policy and to hold what it holds.
func learning(size int) int { return 3*size + 50 }

func newAuto[K comparable, V any](o Options, entries index[K, V]) *auto[K, V] {
	return &auto[K, V]{policy: newFilling[K, V](), entries: entries, options: o, hash: newHash[K]()}
}

// begin is told of every read before it is looked up.
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

func (a *auto[K, V]) tell(e *entry[K, V]) {
	if a.shadows != nil && a.shadows.watch(e.key) {
		a.shadows.put(e.key, e.bytes, e.cost)
	}
}

func (a *auto[K, V]) insert(e *entry[K, V]) {
	a.tell(e)
	a.policy.insert(e)
}

// resized is told that an entry holds more or less by now.
func (a *auto[K, V]) resized(e *entry[K, V]) {
	if a.shadows != nil && a.shadows.watch(e.key) {
		a.shadows.resize(e.key, e.bytes)
	}
}

// remove has the shadows forget what was not evicted but taken out.
func (a *auto[K, V]) remove(e *entry[K, V]) {
	if e != a.evicted && a.shadows != nil && a.shadows.watch(e.key) {
		a.shadows.remove(e.key)
	}
	a.evicted = nil
	a.policy.remove(e)
}

// victim starts the shadows when the cache is full for the first time: only
// then is it known how many entries it holds, and whether there is anything to
// choose at all.
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
	a.tell(incoming)
	a.evicted = a.policy.victim(incoming)
	return a.evicted
}

// comesBack reports whether what is read is soon read again: most of what filled the cache
// was. Otherwise what the cache holds is given up for the like of it, as in epochs, and had
// better stay.
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

// start makes shadows that have seen what happened, and follows the one that was followed
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
		a.found()
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

// found notes what is held, all but one entry.
func (a *auto[K, V]) found() {
	a.founders = newBloom(a.entries.size())
	first := true
	for e := range a.entries.all() {
		if !first {
			a.founders.add(a.hash(e.key))
		}
		first = false
	}
}

// change hands all entries over to the policy that is chosen now.
func (a *auto[K, V]) change() {
	old := a.policy
	a.lead()
	for e := range a.entries.all() {
		old.remove(e)
		e.place, e.rank, e.visited = 0, 0, false
		a.policy.insert(e)
	}
}

// lead makes the policy that does as the chosen candidate. Of those that would
// not give up what they hold, a large cache cannot make do with what happens to
// be there: it goes back to what it held first.
func (a *auto[K, V]) lead() {
	name := candidates[a.choice.current]
	a.begun = nil
	switch {
	case a.shadows.rate == 1:
		f := newFollower(a.entries, a.shadows.holds(a.choice.current))
		a.shadows.tell(a.choice.current, f.left)
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
