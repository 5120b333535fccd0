package cache

import "math/rand/v2"

// policy decides which entry goes when there is no room. It is called with the
// cache's mutex held.
type policy[K comparable, V any] interface {
	insert(e *entry[K, V]) // e is new
	hit(e *entry[K, V])    // e was read or replaced
	remove(e *entry[K, V]) // e is gone
	// victim returns the entry to evict for a new one, or nil to keep all
	// and not take in the new one. For an entry that grew, it is that entry.
	victim(incoming *entry[K, V]) *entry[K, V]
}

// keepAll evicts nothing: memo, which has no bound, and hold, which takes in
// values until it is full. Over epochs that read everything once in another
// order each time, no policy has more hits than hold.
type keepAll[K comparable, V any] struct{}

func (keepAll[K, V]) insert(*entry[K, V])              {}
func (keepAll[K, V]) hit(*entry[K, V])                 {}
func (keepAll[K, V]) remove(*entry[K, V])              {}
func (keepAll[K, V]) victim(*entry[K, V]) *entry[K, V] { return nil }

// list is a ring of entries around a root: root.next is the newest, root.prev
// the oldest.
type list[K comparable, V any] struct{ root *entry[K, V] }

func newList[K comparable, V any]() list[K, V] {
	root := new(entry[K, V])
	root.prev, root.next = root, root
	return list[K, V]{root}
}

func (l list[K, V]) insert(e *entry[K, V]) {
	e.prev, e.next = l.root, l.root.next
	e.prev.next, e.next.prev = e, e
}

func (l list[K, V]) remove(e *entry[K, V]) {
	e.prev.next, e.next.prev = e.next, e.prev
	e.prev, e.next = nil, nil
}

func (l list[K, V]) renew(e *entry[K, V]) {
	if l.root.next != e {
		l.remove(e)
		l.insert(e)
	}
}

func (l list[K, V]) newest() *entry[K, V] { return l.orNil(l.root.next) }
func (l list[K, V]) oldest() *entry[K, V] { return l.orNil(l.root.prev) }

func (l list[K, V]) orNil(e *entry[K, V]) *entry[K, V] {
	if e == l.root {
		return nil
	}
	return e
}

// fifo evicts what was taken in first.
type fifo[K comparable, V any] struct{ list[K, V] }

func (fifo[K, V]) hit(*entry[K, V])                   {}
func (p fifo[K, V]) victim(*entry[K, V]) *entry[K, V] { return p.oldest() }

// lifo evicts what was taken in last: all but one of its places stay with the
// first comers.
type lifo[K comparable, V any] struct{ list[K, V] }

func (lifo[K, V]) hit(*entry[K, V])                   {}
func (p lifo[K, V]) victim(*entry[K, V]) *entry[K, V] { return p.newest() }

// lru evicts what was not used for longest.
type lru[K comparable, V any] struct{ list[K, V] }

func (p lru[K, V]) hit(e *entry[K, V])               { p.renew(e) }
func (p lru[K, V]) victim(*entry[K, V]) *entry[K, V] { return p.oldest() }

// mru evicts what was used last.
type mru[K comparable, V any] struct{ list[K, V] }

func (p mru[K, V]) hit(e *entry[K, V])               { p.renew(e) }
func (p mru[K, V]) victim(*entry[K, V]) *entry[K, V] { return p.newest() }

// sieve evicts, in a sweep from old to new that goes on where it stopped, the
// first entry that was not read since the sweep last passed it (Zhang et al.,
// SIEVE is Simpler than LRU, NSDI 2024).
type sieve[K comparable, V any] struct {
	list[K, V]
	hand *entry[K, V] // nil: start from the oldest
}

func (p *sieve[K, V]) hit(e *entry[K, V]) { e.visited = true }

func (p *sieve[K, V]) remove(e *entry[K, V]) {
	if p.hand == e {
		p.hand = p.orNil(e.prev)
	}
	p.list.remove(e)
}

func (p *sieve[K, V]) victim(*entry[K, V]) *entry[K, V] {
	if p.hand == nil {
		p.hand = p.oldest()
	}
	for p.hand != nil && p.hand.visited {
		p.hand.visited = false
		if p.hand = p.orNil(p.hand.prev); p.hand == nil {
			p.hand = p.oldest()
		}
	}
	return p.hand
}

// random evicts any entry, with a seed of its own so that runs can be
// repeated.
type random[K comparable, V any] struct {
	rng *rand.Rand
	all []*entry[K, V]
}

func newRandom[K comparable, V any]() *random[K, V] {
	return &random[K, V]{rng: rand.New(rand.NewPCG(1, 2))}
}

func (p *random[K, V]) insert(e *entry[K, V]) {
	e.place = int32(len(p.all))
	p.all = append(p.all, e)
}

func (*random[K, V]) hit(*entry[K, V]) {}

func (p *random[K, V]) remove(e *entry[K, V]) {
	last := p.all[len(p.all)-1]
	p.all[e.place], last.place = last, e.place
	p.all[len(p.all)-1] = nil
	p.all = p.all[:len(p.all)-1]
}

func (p *random[K, V]) victim(*entry[K, V]) *entry[K, V] {
	if len(p.all) == 0 {
		return nil
	}
	return p.all[p.rng.IntN(len(p.all))]
}
