package cache

// ranked is a binary heap of entries with the least rank on top. Entries know
// their places, so that any of them can be moved or taken out.
type ranked[K comparable, V any] []*entry[K, V]

func (h ranked[K, V]) top() *entry[K, V] {
	if len(h) == 0 {
		return nil
	}
	return h[0]
}

func (h *ranked[K, V]) push(e *entry[K, V]) {
	e.place = len(*h)
	*h = append(*h, e)
	h.up(e.place)
}

func (h *ranked[K, V]) take(e *entry[K, V]) {
	at, last := e.place, len(*h)-1
	h.swap(at, last)
	(*h)[last] = nil
	*h = (*h)[:last]
	if at < last {
		h.fix((*h)[at])
	}
}

// fix moves an entry whose rank has changed.
func (h ranked[K, V]) fix(e *entry[K, V]) {
	if !h.up(e.place) {
		h.down(e.place)
	}
}

func (h ranked[K, V]) swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

func (h ranked[K, V]) up(at int) (moved bool) {
	for at > 0 {
		parent := (at - 1) / 2
		if h[parent].rank <= h[at].rank {
			break
		}
		h.swap(at, parent)
		at, moved = parent, true
	}
	return moved
}

func (h ranked[K, V]) down(at int) {
	for {
		least := at
		for child := 2*at + 1; child <= 2*at+2 && child < len(h); child++ {
			if h[child].rank < h[least].rank {
				least = child
			}
		}
		if least == at {
			return
		}
		h.swap(at, least)
		at = least
	}
}

// worth keeps what saves most time a byte, and lets that fade for what is not
// used: GreedyDual-Size (Cao and Irani, Cost-Aware WWW Proxy Caching
// Algorithms, 1997).
type worth[K comparable, V any] struct {
	heap  ranked[K, V]
	floor float64 // rank of what was evicted last: what is new starts from there
}

func (w *worth[K, V]) rank(e *entry[K, V]) float64 {
	return w.floor + float64(max(e.cost, 1))/float64(max(e.bytes, 1))
}

func (w *worth[K, V]) insert(e *entry[K, V]) {
	e.rank = w.rank(e)
	w.heap.push(e)
}

func (w *worth[K, V]) hit(e *entry[K, V]) {
	e.rank = w.rank(e)
	w.heap.fix(e)
}

func (w *worth[K, V]) remove(e *entry[K, V]) { w.heap.take(e) }

func (w *worth[K, V]) victim(*entry[K, V]) *entry[K, V] {
	victim := w.heap.top()
	if victim != nil {
		w.floor = max(w.floor, victim.rank)
	}
	return victim
}
