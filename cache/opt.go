package cache

import (
	"fmt"
	"math"

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
// Every Get is taken for the next read of the order: readers that run ahead of
// each other by a few positions lose little. The policy in o is not looked at.
func NewOrdered[V any](o Options, reads order.Order) (*Cache[int, V], error) {
	if o.Size < 0 || o.Bytes < 0 || o.Size == 0 && o.Bytes == 0 {
		return nil, fmt.Errorf("cache: policy opt needs a bound: a size or a number of bytes")
	}
	return newCacheOf(o, ordered(o, reads, newIndex[int, V]())), nil
}

// ordered returns the policy for a known order. Where every element is read once
// a pass, a hit must be held from one pass to the next, so there are at most as
// many a pass as the cache has places: to hold what is there is optimal, and
// much cheaper. That takes that all that is held is read.
func ordered[V any](o Options, reads order.Order, held index[int, V]) policy[int, V] {
	hold := order.OncePerPass(reads)
	for e := range held.all() {
		if _, read := reads.Next(e.key, -1); !read {
			hold = false
		}
	}
	if hold {
		return keepAll[int, V]{}
	}
	return &belady[V]{order: reads, pos: -1, weighs: o.Bytes > 0}
}

// belady evicts what is read again last, or if it weighs entries, what is worth
// least until then. The rank of an entry is the negative of the position at
// which it is read again, so that the least rank is on top.
type belady[V any] struct {
	order   order.Order
	pos     int // of the read that was begun last
	weighs  bool
	classes []class[V]
}

// class has the entries whose value, in time saved for a byte, is the same but
// for a factor of two. All are in one if they are not weighed.
type class[V any] struct {
	value float64
	heap  ranked[int, V]
}

// begin is told of every read before it is looked up.
func (b *belady[V]) begin(int) { b.pos++ }

func (b *belady[V]) rank(e *entry[int, V]) float64 {
	pos, ok := b.order.Next(e.key, b.pos)
	if !ok {
		return math.Inf(-1)
	}
	return -float64(pos)
}

// value is what an entry saves for a byte that it holds, as a power of two.
func (b *belady[V]) value(e *entry[int, V]) float64 {
	if !b.weighs {
		return 1
	}
	_, exponent := math.Frexp(float64(max(e.cost, 1)) / float64(max(e.bytes, 1)))
	return math.Ldexp(1, exponent)
}

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
