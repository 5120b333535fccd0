package cache

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/larder-data/larder/order"
)

// NewOrdered returns a cache of the elements of a source that will be read in a
// known order, under Belady's rule with bypass: what is read again last goes
// first, and that may be the new element itself. Bounded by a size, no policy
// has more hits (Belady, A Study of Replacement Algorithms for a
// Virtual-Storage Computer, 1966).
//
// Bounded by bytes, elements may differ in what they hold and what they cost:
// then what saves least time for the bytes that it holds until it is read again
// goes first. Where all elements are alike that is Belady's rule; in general
// the best choice is not known in reasonable time (Berger, Beckmann and
// Harchol-Balter, Practical Bounds on Optimal Caching with Variable Object
// Sizes, 2018).
//
// Reads may come in another sequence than the order has, as they do of readers that go
// on side by side: by up to a 32nd of it, and 4096 positions. The policy in o is not
// looked at.
func NewOrdered[V any](o Options, reads order.Order) (*Cache[int, V], error) {
	if o.Size < 0 || o.Bytes < 0 || o.Size == 0 && o.Bytes == 0 {
		return nil, fmt.Errorf("cache: policy opt needs a bound: a size or a number of bytes")
	}
	return newCacheOf(o, ordered(o, reads, 0, newIndex[int, V]())), nil
}

// ordered returns the policy for a known order. Where every element is read once
// a pass, a hit must be held from one pass to the next, so there are at most as
// many a pass as the cache has places: to hold what is there is optimal, and
// much cheaper. That takes that all that is held is read.
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
	slack := max(leastSlack, min(mostSlack, reads.Len()/32))
	return &belady[V]{order: reads, pos: from - 1, slack: slack, begun: newWindow(slack), weighs: o.Bytes > 0, overdue: sweepEvery}
}

// Reads may come so many positions before or after their turn, or a part of the order
// between the two.
const (
	leastSlack = 16
	mostSlack  = 4096
)

// sweepEvery is after how many reads at least all entries are looked at.
const sweepEvery = 1024

// belady evicts what is read again last, or if it weighs entries, what is worth
// least until then. The rank of an entry is the negative of the position at
// which it is read again, so that the least rank is on top.
type belady[V any] struct {
	order   order.Order
	pos     int // the furthest of the reads that were begun
	slack   int
	begun   bitWindow // of the positions within slack of pos, those that were begun
	overdue int       // so many reads from now it is looked for entries that are
	weighs  bool
	usual   float64 // what it takes to make an entry: the logarithm, in the mean of the last
	learnt  int     // so many
	classes []class[V]
}

// class has the entries whose value, in time saved for a byte, is the same but
// for a factor of two. All are in one if they are not weighed.
type class[V any] struct {
	value float64
	heap  ranked[int, V]
}

// begin is told of every read before it is looked up: it is the first of the key's reads
// within reach that has not been begun. Who reads side by side with others is before or
// after them; of a read that is not within reach the order does not know.
func (b *belady[V]) begin(k int) {
	if pos, ok := b.next(k); ok && pos <= b.pos+b.slack {
		b.mark(pos)
	}
	if b.overdue--; b.overdue <= 0 {
		b.sweep()
	}
}

// next is the first position within reach, or after it, at which a key is read and that
// has not been begun.
func (b *belady[V]) next(k int) (pos int, ok bool) {
	pos, ok = b.order.Next(k, max(-1, b.pos-b.slack-1))
	for ok && pos <= b.pos+b.slack && b.begun.has(pos) {
		pos, ok = b.order.Next(k, pos)
	}
	return pos, ok
}

// mark notes that a read has been begun, and moves on if it is the furthest.
func (b *belady[V]) mark(pos int) {
	for b.pos < pos {
		b.pos++
		b.begun.clear(b.pos + b.slack)
	}
	b.begun.set(pos)
}

// A bitWindow has a bit for each position near one that moves on.
type bitWindow []uint64

func newWindow(slack int) bitWindow { return make(bitWindow, (2*slack+1+63)/64+1) }

func (w bitWindow) at(pos int) (word *uint64, bit uint64) {
	pos %= 64 * len(w)
	return &w[pos/64], 1 << (pos % 64)
}

func (w bitWindow) set(pos int)      { word, bit := w.at(pos); *word |= bit }
func (w bitWindow) clear(pos int)    { word, bit := w.at(pos); *word &^= bit }
func (w bitWindow) has(pos int) bool { word, bit := w.at(pos); return *word&bit != 0 }

// sweep finds entries whose read did not come, or came when they were taken for read
// already, and ranks them by the next one: else they would be held for ever.
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

// value is what an entry saves for a byte that it holds, as a power of two. What things
// take is measured, and differs without a reason, so it counts only where it is far from
// what others take.
func (b *belady[V]) value(e *entry[int, V]) float64 {
	if !b.weighs {
		return 1
	}
	_, bytes := math.Frexp(float64(max(e.bytes, 1)))
	far := math.Round((costOf(e) - b.usual) / coarse)
	return math.Ldexp(1, int(coarse*far)-bytes)
}

// coarse is the logarithm of the ratio by which costs are told apart.
const coarse = 2

// learn notes what it took to make an entry.
func (b *belady[V]) learn(e *entry[int, V]) {
	b.learnt = min(b.learnt+1, 1024)
	b.usual += (costOf(e) - b.usual) / float64(b.learnt)
}

// cheap is what anything may take whose goroutine had to wait for its turn.
const cheap = 4 * time.Millisecond

// costOf is the logarithm of what it took to make an entry.
func costOf[V any](e *entry[int, V]) float64 { return math.Log2(float64(max(e.cost, cheap))) }

// classOf returns the place of an entry's class, which is made if need be.
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

// worth is what it saves to hold a byte for one read more. What is overdue is
// taken to be read next.
func (b *belady[V]) worth(rank, value float64) float64 {
	return value / max(1, -rank-float64(b.pos))
}

// insert takes in an entry, whose rank is known if it had to make room.
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
	if was := e.class; b.classOf(e) != int(was) { // it holds more by now
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
	return victim // nil: the new one is worth least of all
}
