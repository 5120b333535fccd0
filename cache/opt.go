package cache

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/larder-data/larder/order"
)

// NewOrdered returns a cache for elements of a source that are read in a known order.
// It uses Belady's rule with bypass: it evicts the element that is read again last, or
// rejects the new one. With a bound on the number, no policy has more hits (Belady, A
// Study of Replacement Algorithms for a Virtual-Storage Computer, 1966).
//
// With a bound on bytes, elements may differ in bytes and cost. The cache then evicts
// the element that saves the least time for the bytes that it occupies until its next
// read. If all elements are alike, this is Belady's rule. In general no efficient
// algorithm for the best choice is known (Berger, Beckmann and Harchol-Balter,
// Practical Bounds on Optimal Caching with Variable Object Sizes, 2018).
//
// Reads may deviate from the order, as with concurrent readers, by up to a 32nd of it,
// at most 4096 positions. The policy in o is ignored.
func NewOrdered[V any](o Options, reads order.Order) (*Cache[int, V], error) {
	if o.Size < 0 || o.Bytes < 0 || o.Size == 0 && o.Bytes == 0 {
		return nil, fmt.Errorf("cache: policy opt has no bound; set Size or Bytes")
	}
	return newCacheOf(o, ordered(o, reads, 0, newIndex[int, V]())), nil
}

// ordered returns the policy for a known order. If every element is read once per pass,
// a hit must be held from one pass to the next. So a pass has at most as many hits as
// the cache has entries. Then it is optimal, and much cheaper, to hold the present
// entries, if all of them will be read.
func ordered[V any](o Options, reads order.Order, from int, held index[int, V]) policy[int, V] {
	hold := order.OncePerPass(reads)
	for e := range held.all() {
		if _, read := reads.Next(e.key, -1); !read {
			hold = false
		}
	}
	if hold {
		return keepAll[int, V]{}
	}
	slack := max(leastSlack, min(maxSlack, reads.Len()/32))
	return &belady[V]{order: reads, pos: from - 1, slack: slack, begun: newWindow(slack), weighs: o.Bytes > 0, overdue: sweepEvery}
}

// Bounds on how far a read may be from its position in the order.
const (
	leastSlack = 16
	maxSlack   = 4096
)

// sweepEvery is the least number of reads between two sweeps over all entries.
const sweepEvery = 1024

// belady evicts the entry that is read again last or, if it weighs entries, that is
// worth least until then. The rank of an entry is the negative of its next position, so
// that the least rank is on top.
type belady[V any] struct {
	order   order.Order
	pos     int // the furthest read that was begun
	slack   int
	begun   bitWindow // positions within slack of pos that were begun
	overdue int       // reads until the next sweep for overdue entries
	weighs  bool
	usual   float64 // recent mean of the logarithm of the cost
	learnt  int     // number of costs in the mean
	classes []class[V]
}

// class has entries whose value, in time saved per byte, is the same up to a factor of
// two. There is one class if entries are not weighed.
type class[V any] struct {
	value float64
	heap  ranked[int, V]
}

// begin is called for every read before the lookup. It marks the first read of the key
// within reach that has not been begun. Concurrent readers may be before or after each
// other; reads out of reach are not in the order.
func (b *belady[V]) begin(k int) {
	if pos, ok := b.next(k); ok && pos <= b.pos+b.slack {
		b.mark(pos)
	}
	if b.overdue--; b.overdue <= 0 {
		b.sweep()
	}
}

// next returns the first position of a key, within reach or after it, that has not been
// begun.
func (b *belady[V]) next(k int) (pos int, ok bool) {
	pos, ok = b.order.Next(k, max(-1, b.pos-b.slack-1))
	for ok && pos <= b.pos+b.slack && b.begun.has(pos) {
		pos, ok = b.order.Next(k, pos)
	}
	return pos, ok
}

// mark marks a read as begun, and moves the window if it is the furthest.
func (b *belady[V]) mark(pos int) {
	for b.pos < pos {
		b.pos++
		b.begun.clear(b.pos + b.slack)
	}
	b.begun.set(pos)
}

// A bitWindow has a bit for each position near a moving one.
type bitWindow []uint64

func newWindow(slack int) bitWindow { return make(bitWindow, (2*slack+1+63)/64+1) }

func (w bitWindow) at(pos int) (word *uint64, bit uint64) {
	pos %= 64 * len(w)
	return &w[pos/64], 1 << (pos % 64)
}

func (w bitWindow) set(pos int)      { word, bit := w.at(pos); *word |= bit }
func (w bitWindow) clear(pos int)    { word, bit := w.at(pos); *word &^= bit }
func (w bitWindow) has(pos int) bool { word, bit := w.at(pos); return *word&bit != 0 }

// sweep ranks overdue entries by their next read. Their read did not come, or came when
// it was already marked. Otherwise they would be held for ever.
func (b *belady[V]) sweep() {
	b.overdue = sweepEvery
	for i := range b.classes {
		c := &b.classes[i]
		c.heap.settle()
		b.overdue = max(b.overdue, len(c.heap.seats))
		stale := slices.DeleteFunc(slices.Clone(c.heap.seats), func(s seat[int, V]) bool { return -s.rank >= float64(b.pos-b.slack) })
		for _, s := range stale {
			s.entry.rank = b.rank(s.entry)
			c.heap.fix(s.entry)
		}
	}
}

func (b *belady[V]) rank(e *entry[int, V]) float64 {
	pos, ok := b.next(e.key)
	if !ok {
		return math.Inf(-1)
	}
	return -float64(pos)
}

// value is the time that an entry saves per byte, as a power of two. Measured costs
// vary without reason, so a cost counts only if it is far from the usual one.
func (b *belady[V]) value(e *entry[int, V]) float64 {
	if !b.weighs {
		return 1
	}
	_, bytes := math.Frexp(float64(max(e.bytes, 1)))
	far := math.Round((costOf(e) - b.usual) / coarse)
	return math.Ldexp(1, int(coarse*far)-bytes)
}

// coarse is the binary logarithm of the ratio between distinguished costs.
const coarse = 2

// learn adds the cost of an entry to the mean.
func (b *belady[V]) learn(e *entry[int, V]) {
	b.learnt = min(b.learnt+1, 1024)
	b.usual += (costOf(e) - b.usual) / float64(b.learnt)
}

// cheap is a cost that any computation may have if its goroutine had to wait for a
// processor.
const cheap = 4 * time.Millisecond

func costOf[V any](e *entry[int, V]) float64 { return math.Log2(float64(max(e.cost, cheap))) }

// classOf returns the index of an entry's class, and creates the class if needed.
func (b *belady[V]) classOf(e *entry[int, V]) int {
	value := b.value(e)
	for i := range b.classes {
		if b.classes[i].value == value {
			return i
		}
	}
	b.classes = append(b.classes, class[V]{value: value})
	return len(b.classes) - 1
}

// worth is the time saved per byte and read that an entry is held. An overdue entry
// counts as the next to be read.
func (b *belady[V]) worth(rank, value float64) float64 {
	return value / max(1, -rank-float64(b.pos))
}

// insert adds an entry. If it had to wait for an eviction, its rank is already known.
func (b *belady[V]) insert(e *entry[int, V]) {
	if e.rank == 0 {
		e.rank = b.rank(e)
		b.learn(e)
	}
	e.class = int16(b.classOf(e))
	b.classes[e.class].heap.push(e)
}

func (b *belady[V]) hit(e *entry[int, V]) {
	e.rank = b.rank(e)
	if was := e.class; b.classOf(e) != int(was) { // its bytes changed
		b.remove(e)
		b.insert(e)
		return
	}
	b.classes[e.class].heap.fix(e)
}

func (b *belady[V]) remove(e *entry[int, V]) { b.classes[e.class].heap.take(e) }

func (b *belady[V]) victim(incoming *entry[int, V]) *entry[int, V] {
	incoming.rank = b.rank(incoming)
	b.learn(incoming)
	var victim *entry[int, V]
	least := b.worth(incoming.rank, b.value(incoming))
	for i := range b.classes {
		c := &b.classes[i]
		top := c.heap.top()
		if top == nil {
			continue
		}
		if w := b.worth(top.rank, c.value); w < least {
			victim, least = top, w
		}
	}
	return victim // nil: the new one is worth least
}
