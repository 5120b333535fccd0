package cache

import "github.com/larder-data/larder/order"

// PredictHits returns how many of n reads of an order, from a position on, would hit if
// [SetFutureReads] set that order for c in its present state. It simulates c on keys alone. For
// elements that are not in c it uses the mean bytes of those that are; ok is false if
// that is needed and unknown.
func PredictHits[V any](c *Cache[int, V], reads order.Order, from, n int) (hits int, ok bool) {
	model, bytes, ok := c.model()
	if !ok {
		return 0, false
	}
	SetFutureReads(model, reads, from)
	for pos := from; pos < min(from+n, reads.Len()); pos++ {
		k := reads.At(pos)
		if _, found := model.Get(k); found {
			hits++
			continue
		}
		model.Put(k, struct{}{}, bytes, 0)
	}
	return hits, true
}

// model returns a cache with the keys of c, and the mean bytes of an element.
func (c *Cache[K, V]) model() (m *Cache[K, struct{}], bytes int64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := int64(c.entries.size()); n > 0 {
		bytes = c.stats.Bytes / n
	} else if c.options.Bytes > 0 {
		return nil, 0, false
	}
	m = newCacheOf[K, struct{}](c.options, keepAll[K, struct{}]{})
	for e := range c.entries.all() {
		m.put(e.key, struct{}{}, e.bytes, 0)
	}
	return m, bytes, true
}
