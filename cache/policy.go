package cache

import "math/rand/v2"

// policy decides which entry to evict from a full cache. It is called with the cache's
// mutex held.
type policy[K comparable, V any] interface {
	insert(e *entry[K, V]) // e is new
	hit(e *entry[K, V])    // e was read or replaced
	remove(e *entry[K, V]) // e is removed
	// victim returns the entry to evict for a new one, or nil to reject the new one.
	// After an entry grew, incoming is that entry.
	victim(incoming *entry[K, V]) *entry[K, V]
}

// keepAll evicts nothing. It is the policy memo, which has no bound, and hold, which
// accepts values until it is full. Over epochs that read everything once, each in
// another order, no policy has more hits than hold.
type keepAll[K comparable, V any] struct{}

func (keepAll[K, V]) insert(*entry[K, V])              {}
func (keepAll[K, V]) hit(*entry[K, V])                 {}
func (keepAll[K, V]) remove(*entry[K, V])              {}
func (keepAll[K, V]) victim(*entry[K, V]) *entry[K, V] { return nil }

// list is a ring of entries around a root: root.next is the newest, root.prev the
// oldest.
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

// fifo evicts the oldest entry.
type fifo[K comparable, V any] struct{ list[K, V] }

func (fifo[K, V]) hit(*entry[K, V])                   {}
func (p fifo[K, V]) victim(*entry[K, V]) *entry[K, V] { return p.oldest() }

// lifo evicts the newest entry: all but one of its entries stay.
type lifo[K comparable, V any] struct{ list[K, V] }

func (lifo[K, V]) hit(*entry[K, V])                   {}
func (p lifo[K, V]) victim(*entry[K, V]) *entry[K, V] { return p.newest() }

// lru evicts the least recently used entry.
type lru[K comparable, V any] struct{ list[K, V] }

func (p lru[K, V]) hit(e *entry[K, V])               { p.renew(e) }
func (p lru[K, V]) victim(*entry[K, V]) *entry[K, V] { return p.oldest() }

// mru evicts the most recently used entry.
type mru[K comparable, V any] struct{ list[K, V] }

func (p mru[K, V]) hit(e *entry[K, V])               { p.renew(e) }
func (p mru[K, V]) victim(*entry[K, V]) *entry[K, V] { return p.newest() }

// sieve sweeps from old to new and continues where it stopped. It evicts the first
// entry that was not read since the last sweep (Zhang et al., SIEVE is Simpler than
// LRU, NSDI 2024).
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

// random evicts a random entry, with its own seed so that runs can be repeated.
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
