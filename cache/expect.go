package cache

import "github.com/larder-data/larder/order"

// Expect tells a cache of the elements of a source that the next reads come in
// a known order, from a position on; those before it have been begun already, and may
// still come. Until it is told otherwise it evicts by Belady's rule with
// bypass (see [NewOrdered]) and not by its own policy. A nil order ends it. What is held stays.
func Expect[V any](c *Cache[int, V], reads order.Order, from int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if reads == nil {
		if c.own == nil {
			return
		}
		c.change(c.own, c.ownBegin)
		c.own, c.ownBegin = nil, nil
		return
	}
	if c.own == nil {
		c.own, c.ownBegin = c.policy, c.begin
	}
	p := ordered(c.options, reads, from, c.entries)
	var begin func(int)
	if p, ok := p.(*belady[V]); ok {
		begin = p.begin
	}
	c.change(p, begin)
}

// change hands all entries over to another policy.
func (c *Cache[K, V]) change(p policy[K, V], begin func(K)) {
	if p == c.policy {
		return
	}
	for e := range c.entries.all() {
		c.policy.remove(e)
		e.place, e.rank, e.visited = 0, 0, false
		p.insert(e)
	}
	c.policy, c.begin = p, begin
}
