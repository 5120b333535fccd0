package cache

import "github.com/larder-data/larder/order"

// SetFutureReads tells a cache that the next reads come in a known order, from a position on.
// Reads of earlier positions may still arrive, because readers run concurrently. The keys are elements of a source.
// Until the next call of SetFutureReads the cache evicts by Belady's rule with bypass (see
// [NewOrdered]) instead of its own policy. A nil order ends this. The cache keeps its
// entries.
func SetFutureReads[V any](c *Cache[int, V], reads order.Order, from int) {
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
