package cache

// ranked is a heap of entries with the least rank on top. Each node has four children,
// and ranks are stored next to the entries, so that few entries are read. Entries know
// their positions, so any entry can be moved or removed.
type ranked[K comparable, V any] struct {
	seats []seat[K, V]
	// vacant is true if the top was removed: most often another entry takes its
	// position.
	vacant bool
}

type seat[K comparable, V any] struct {
	rank  float64
	entry *entry[K, V]
}

const arity = 4

func (h *ranked[K, V]) top() *entry[K, V] {
	h.settle()
	if len(h.seats) == 0 {
		return nil
	}
	return h.seats[0].entry
}

func (h *ranked[K, V]) push(e *entry[K, V]) {
	if h.vacant {
		h.vacant = false
		h.down(0, seat[K, V]{e.rank, e})
		return
	}
	h.seats = append(h.seats, seat[K, V]{})
	h.up(len(h.seats)-1, seat[K, V]{e.rank, e})
}

func (h *ranked[K, V]) take(e *entry[K, V]) {
	h.settle()
	if e.place == 0 {
		h.seats[0], h.vacant = seat[K, V]{}, true
		return
	}
	h.close(int(e.place))
}

// settle closes the gap of a removed top.
func (h *ranked[K, V]) settle() {
	if h.vacant {
		h.vacant = false
		h.close(0)
	}
}

// close fills a gap with the last entry.
func (h *ranked[K, V]) close(at int) {
	last := len(h.seats) - 1
	moved := h.seats[last]
	h.seats[last] = seat[K, V]{}
	h.seats = h.seats[:last]
	if at < last {
		h.sift(at, moved)
	}
}

func (h *ranked[K, V]) fix(e *entry[K, V]) {
	h.settle()
	h.sift(int(e.place), seat[K, V]{e.rank, e})
}

// sift moves s from a free position to where it belongs.
func (h *ranked[K, V]) sift(at int, s seat[K, V]) {
	if at > 0 && s.rank < h.seats[(at-1)/arity].rank {
		h.up(at, s)
	} else {
		h.down(at, s)
	}
}

func (h *ranked[K, V]) put(at int, s seat[K, V]) {
	h.seats[at] = s
	s.entry.place = int32(at)
}

func (h *ranked[K, V]) up(at int, s seat[K, V]) {
	for at > 0 {
		parent := (at - 1) / arity
		if h.seats[parent].rank <= s.rank {
			break
		}
		h.put(at, h.seats[parent])
		at = parent
	}
	h.put(at, s)
}

func (h *ranked[K, V]) down(at int, s seat[K, V]) {
	for {
		first := arity*at + 1
		if first >= len(h.seats) {
			break
		}
		least := first
		for child := first + 1; child < min(first+arity, len(h.seats)); child++ {
			if h.seats[child].rank < h.seats[least].rank {
				least = child
			}
		}
		if h.seats[least].rank >= s.rank {
			break
		}
		h.put(at, h.seats[least])
		at = least
	}
	h.put(at, s)
}

// worth evicts the entry that saves the least time per byte, and ages entries that are
// not used: GreedyDual-Size (Cao and Irani, Cost-Aware WWW Proxy Caching Algorithms,
// 1997).
type worth[K comparable, V any] struct {
	heap  ranked[K, V]
	floor float64 // rank of the last victim, at which new entries start
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
