package cache

// ranked is a heap of entries with the least rank on top. Each node has four
// children, and ranks lie beside the entries, so that few of them have to be
// fetched. Entries know their places, so that any can be moved or taken out.
type ranked[K comparable, V any] []seat[K, V]

type seat[K comparable, V any] struct {
	rank  float64
	entry *entry[K, V]
}

const arity = 4

func (h ranked[K, V]) top() *entry[K, V] {
	if len(h) == 0 {
		return nil
	}
	return h[0].entry
}

func (h *ranked[K, V]) push(e *entry[K, V]) {
	*h = append(*h, seat[K, V]{})
	h.up(len(*h)-1, seat[K, V]{e.rank, e})
}

func (h *ranked[K, V]) take(e *entry[K, V]) {
	at, last := e.place, len(*h)-1
	moved := (*h)[last]
	(*h)[last] = seat[K, V]{}
	*h = (*h)[:last]
	if at < last {
		h.sift(at, moved)
	}
}

// fix moves an entry whose rank has changed.
func (h ranked[K, V]) fix(e *entry[K, V]) { h.sift(e.place, seat[K, V]{e.rank, e}) }

// sift puts s at a free place, or where it belongs from there.
func (h ranked[K, V]) sift(at int, s seat[K, V]) {
	if at > 0 && s.rank < h[(at-1)/arity].rank {
		h.up(at, s)
	} else {
		h.down(at, s)
	}
}

func (h ranked[K, V]) put(at int, s seat[K, V]) {
	h[at] = s
	s.entry.place = at
}

func (h ranked[K, V]) up(at int, s seat[K, V]) {
	for at > 0 {
		parent := (at - 1) / arity
		if h[parent].rank <= s.rank {
			break
		}
		h.put(at, h[parent])
		at = parent
	}
	h.put(at, s)
}

func (h ranked[K, V]) down(at int, s seat[K, V]) {
	for {
		first := arity*at + 1
		if first >= len(h) {
			break
		}
		least := first
		for child := first + 1; child < min(first+arity, len(h)); child++ {
			if h[child].rank < h[least].rank {
				least = child
			}
		}
		if h[least].rank >= s.rank {
			break
		}
		h.put(at, h[least])
		at = least
	}
	h.put(at, s)
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
