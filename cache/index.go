package cache

import "iter"

type index[K comparable, V any] interface {
	get(k K) *entry[K, V]    // nil if there is none
	set(k K, e *entry[K, V]) // k has no entry yet
	remove(k K)
	size() int
	all() iter.Seq[*entry[K, V]] // the caller may remove each as it is yielded
}

// newIndex returns an empty index: for positions in a dataset one without hashing.
func newIndex[K comparable, V any]() index[K, V] {
	if i, ok := any(&paged[V]{}).(index[K, V]); ok {
		return i
	}
	return &hashed[K, V]{hash: newHash[K]()}
}

// hashed is a table of any keys by linear hashing (Litwin, Linear Hashing: A New Tool
// for File and Table Addressing, 1980). Each bucket is a chain through its entries; if
// there are more entries than buckets, one bucket is split. So it costs a few words per
// entry and never pauses to grow. A Go map with a copy of each key took 160 bytes per
// entry of a full cache.
type hashed[K comparable, V any] struct {
	hash    func(k K) uint64
	buckets []*entry[K, V]
	mask    uint64 // for the number of buckets after all are split
	n       int
}

func (h *hashed[K, V]) bucket(k K) uint64 {
	i := h.hash(k) & h.mask
	if i >= uint64(len(h.buckets)) {
		i &= h.mask >> 1 // not split yet
	}
	return i
}

func (h *hashed[K, V]) get(k K) *entry[K, V] {
	if h.n == 0 {
		return nil
	}
	e := h.buckets[h.bucket(k)]
	for e != nil && e.key != k {
		e = e.chain
	}
	return e
}

func (h *hashed[K, V]) set(_ K, e *entry[K, V]) {
	if h.n++; h.n > len(h.buckets) {
		h.split()
	}
	h.push(e)
}

func (h *hashed[K, V]) push(e *entry[K, V]) {
	first := &h.buckets[h.bucket(e.key)]
	e.chain, *first = *first, e
}

// split adds a bucket and moves its entries there.
func (h *hashed[K, V]) split() {
	last := uint64(len(h.buckets))
	if last > h.mask {
		h.mask = 2*h.mask + 1
	}
	h.buckets = append(h.buckets, nil)
	if last == 0 {
		return
	}
	from := &h.buckets[last&(h.mask>>1)]
	e := *from
	*from = nil
	for e != nil {
		next := e.chain
		h.push(e)
		e = next
	}
}

func (h *hashed[K, V]) remove(k K) {
	if h.n == 0 {
		return
	}
	for at := &h.buckets[h.bucket(k)]; *at != nil; at = &(*at).chain {
		if e := *at; e.key == k {
			*at, e.chain = e.chain, nil
			h.n--
			return
		}
	}
}

func (h *hashed[K, V]) size() int { return h.n }

func (h *hashed[K, V]) all() iter.Seq[*entry[K, V]] {
	return func(yield func(*entry[K, V]) bool) {
		for _, e := range h.buckets {
			for e != nil {
				next := e.chain // the caller may remove e
				if !yield(e) {
					return
				}
				e = next
			}
		}
	}
}

// paged is a table of small integers in pages, which exist only where entries are: at
// worst half a kilobyte per entry. Other integers are hashed.
type paged[V any] struct {
	pages  []page[V]
	spare  *slots[V] // an empty one for the next new page
	n      int
	beyond map[int]*entry[int, V]
}

// page has the entries of 64 keys. A bit mask answers for missing keys without a read
// of the slots, which are likely to be far away in memory. In a cache much smaller than
// its source, most lookups are of missing keys.
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
			p.beyond = map[int]*entry[int, V]{}
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
