package cache

import (
	"fmt"
	"math"

	"github.com/larder-data/larder/order"
)

// NewOrdered returns a cache of the elements of a source that will be read in a
// known order, under Belady's rule with bypass: what is read again last goes
// first, and that may be the new element itself. No policy has more hits
// (Belady, A Study of Replacement Algorithms for a Virtual-Storage Computer,
// 1966). With a byte bound, elements of one size are assumed in that.
//
// Every Get is taken for the next read of the order: readers that run ahead of
// each other by a few positions lose little. The policy in o is not looked at.
func NewOrdered[V any](o Options, reads order.Order) (*Cache[int, V], error) {
	if o.Size < 0 || o.Bytes < 0 || o.Size == 0 && o.Bytes == 0 {
		return nil, fmt.Errorf("cache: policy opt needs a bound: a size or a number of bytes")
	}
	return newCacheOf(o, ordered(reads, newIndex[int, V]())), nil
}

// ordered returns the policy for a known order. Where every element is read once
// a pass, a hit must be held from one pass to the next, so there are at most as
// many a pass as the cache has places: to hold what is there is optimal, and
// much cheaper. That takes that all that is held is read.
func ordered[V any](reads order.Order, held index[int, V]) policy[int, V] {
	hold := order.OncePerPass(reads)
	for e := range held.all() {
		if _, read := reads.Next(e.key, -1); !read {
			hold = false
		}
	}
	if hold {
		return keepAll[int, V]{}
	}
	return &belady[V]{order: reads, pos: -1}
}

// belady evicts what is read again last. The rank of an entry is the negative
// of that position, so that the least rank is on top.
type belady[V any] struct {
	order order.Order
	pos   int // of the read that was begun last
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

// insert takes in an entry, whose rank is known if it had to make room.
func (b *belady[V]) insert(e *entry[int, V]) {
	if e.rank == 0 {
		e.rank = b.rank(e)
	}
	b.heap.push(e)
}

func (b *belady[V]) hit(e *entry[int, V]) {
	e.rank = b.rank(e)
	b.heap.fix(e)
}

func (b *belady[V]) remove(e *entry[int, V]) { b.heap.take(e) }

func (b *belady[V]) victim(incoming *entry[int, V]) *entry[int, V] {
	incoming.rank = b.rank(incoming)
	top := b.heap.top()
	if top == nil || incoming.rank <= top.rank {
		return nil // the new one is read again last of all
	}
	return top
}
