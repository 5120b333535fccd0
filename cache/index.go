package cache

import (
	"iter"
	"maps"
)

// index finds the entry of a key.
type index[K comparable, V any] interface {
	get(k K) *entry[K, V] // nil if there is none
	set(k K, e *entry[K, V])
	remove(k K)
	size() int
	all() iter.Seq[*entry[K, V]]
}

// newIndex returns an empty index: positions in a dataset have one that needs
// no hashing.
func newIndex[K comparable, V any]() index[K, V] {
	if i, ok := any(&paged[V]{}).(index[K, V]); ok {
		return i
	}
	return hashed[K, V]{}
}

type hashed[K comparable, V any] map[K]*entry[K, V]

func (h hashed[K, V]) get(k K) *entry[K, V]        { return h[k] }
func (h hashed[K, V]) set(k K, e *entry[K, V])     { h[k] = e }
func (h hashed[K, V]) remove(k K)                  { delete(h, k) }
func (h hashed[K, V]) size() int                   { return len(h) }
func (h hashed[K, V]) all() iter.Seq[*entry[K, V]] { return maps.Values(h) }

// paged is a table of small numbers in pages, which exist only where entries
// are: at worst half a kilobyte for each. Other numbers are hashed.
type paged[V any] struct {
	pages  []page[V]
	spare  *slots[V] // empty ones, for the next page that is needed
	n      int
	beyond hashed[int, V]
}

// page has the entries of 64 numbers. What is not there, most of what is asked
// for in a cache that is much smaller than its source, is known without
// looking at the slots, which are likely to be far away in memory.
type page[V any] struct {
	there uint64 // a bit for each slot in use
	slots *slots[V]
}

type slots[V any] [64]*entry[int, V]

const maxPages = 1 << 18

// place returns the page of a key and its slot there.
func place(k int) (page, slot uint) { return uint(k) / 64, uint(k) % 64 }

func (p *paged[V]) get(k int) *entry[int, V] {
	at, slot := place(k)
	if at >= uint(len(p.pages)) {
		return p.beyond[k]
	}
	if pg := &p.pages[at]; pg.there&(1<<slot) != 0 {
		return pg.slots[slot]
	}
	return nil
}

func (p *paged[V]) set(k int, e *entry[int, V]) {
	at, slot := place(k)
	if at >= maxPages {
		if p.beyond == nil {
			p.beyond = hashed[int, V]{}
		}
		p.beyond[k] = e
		return
	}
	if at >= uint(len(p.pages)) {
		p.pages = append(p.pages, make([]page[V], at+1-uint(len(p.pages)))...)
	}
	pg := &p.pages[at]
	if pg.slots == nil {
		if pg.slots, p.spare = p.spare, nil; pg.slots == nil {
			pg.slots = new(slots[V])
		}
	}
	if pg.there&(1<<slot) == 0 {
		pg.there |= 1 << slot
		p.n++
	}
	pg.slots[slot] = e
}

func (p *paged[V]) remove(k int) {
	at, slot := place(k)
	if at >= maxPages {
		delete(p.beyond, k)
		return
	}
	if at >= uint(len(p.pages)) || p.pages[at].there&(1<<slot) == 0 {
		return
	}
	pg := &p.pages[at]
	pg.slots[slot] = nil
	pg.there &^= 1 << slot
	p.n--
	if pg.there == 0 {
		p.spare, pg.slots = pg.slots, nil
	}
}

func (p *paged[V]) size() int { return p.n + len(p.beyond) }

func (p *paged[V]) all() iter.Seq[*entry[int, V]] {
	return func(yield func(*entry[int, V]) bool) {
		for _, pg := range p.pages {
			if pg.slots == nil {
				continue
			}
			for _, e := range pg.slots {
				if e != nil && !yield(e) {
					return
				}
			}
		}
		for _, e := range p.beyond {
			if !yield(e) {
				return
			}
		}
	}
}
