// Package cache provides caches of decoded values in memory, bounded in number or in
// bytes.
//
// An entry is a value under its key, with its bytes and its cost to compute. A read
// that finds an entry is a hit. If the cache is full, a policy decides which entry is
// evicted for a new one, or that the new one is rejected. [Policies] lists the
// policies; [Register] adds others. If the order of reads is known in advance, use
// [NewOrdered] and [SetFutureReads].
package cache

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/larder-data/larder/internal/proc/singleflight"
)

// Options configure a cache.
type Options struct {
	Policy string // one of Policies
	Size   int    // most entries; 0 for no bound
	Bytes  int64  // most bytes; 0 for no bound
}

// A Cache stores values under keys. It is safe for concurrent use. It returns values as
// they were put, including nil ones.
type Cache[K comparable, V any] struct {
	options Options
	loads   singleflight.Group[K, V]

	mu       sync.Mutex
	entries  index[K, V]
	policy   policy[K, V]
	begin    func(k K)            // called for every Get if not nil
	resized  func(e *entry[K, V]) // called when the bytes of an entry changed, if not nil
	gone     func(k K)            // called for each removed key, if not nil
	stats    Stats
	own      policy[K, V] // its own policy, while an order is expected
	ownBegin func(k K)
	removed  uint64 // counts Remove and Clear, so that loads notice them
	onDrop   func(V)
	spare    *entry[K, V]
}

// entry is one value and its position in the list of a policy. There may be millions of
// entries, so the fields are small and packed.
type entry[K comparable, V any] struct {
	key        K
	visited    bool  // sieve
	class      int16 // opt: class by value
	place      int32 // rr, cost, opt: position in their slice
	value      V
	bytes      int64
	cost       time.Duration
	prev, next *entry[K, V]
	rank       float64      // cost, opt: the least is evicted first
	chain      *entry[K, V] // next in its bucket of the index
}

// Stats count what a cache did.
type Stats struct {
	Hits, Misses int64
	Evictions    int64         // entries evicted for others
	Rejected     int64         // puts that were rejected
	Bytes        int64         // held now
	Saved        time.Duration // cost of the values that hits returned
}

// New returns an empty cache. It returns an error for an unknown policy, and for a
// policy other than memo without a bound.
func New[K comparable, V any](o Options) (*Cache[K, V], error) {
	if o.Size < 0 || o.Bytes < 0 {
		return nil, fmt.Errorf("cache: size %d, bytes %d; give bounds of 0 or more", o.Size, o.Bytes)
	}
	if o.Policy != "memo" && o.Size == 0 && o.Bytes == 0 {
		return nil, fmt.Errorf("cache: policy %s has no bound; set Size or Bytes", o.Policy)
	}
	c := newCacheOf[K, V](o, nil)
	p, err := newPolicy(o, c.entries)
	if err != nil {
		return nil, err
	}
	c.follow(p)
	return c, nil
}

func newCacheOf[K comparable, V any](o Options, p policy[K, V]) *Cache[K, V] {
	c := &Cache[K, V]{options: o, entries: newIndex[K, V]()}
	c.follow(p)
	return c
}

func (c *Cache[K, V]) follow(p policy[K, V]) {
	c.policy = p
	if p, ok := p.(interface{ begin(k K) }); ok {
		c.begin = p.begin
	}
	if p, ok := p.(interface{ resized(e *entry[K, V]) }); ok {
		c.resized = p.resized
	}
}

// OnDrop sets a function that is called with each value that was removed or rejected.
// Call OnDrop once, before the cache is used. The cache is locked while f runs, so f
// must not use it.
func (c *Cache[K, V]) OnDrop(f func(V)) { c.onDrop = f }

func (c *Cache[K, V]) dropped(v V) {
	if c.onDrop != nil {
		c.onDrop(v)
	}
}

// Policies lists the names of the policies, including registered ones. [newPolicy] creates
// them; opt is not one of them, because it needs the order of reads ([NewOrdered]).
func Policies() []string {
	registryMu.Lock()
	defer registryMu.Unlock()
	names := []string{"auto", "cost", "fifo", "hold", "lifo", "lru", "memo", "mru", "rr", "s3-fifo", "sieve", "w-tinylfu"}
	return slices.Sorted(slices.Values(slices.AppendSeq(names, maps.Keys(registered))))
}

// Get returns the value under k.
func (c *Cache[K, V]) Get(k K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.read(k); e != nil {
		return e.value, true
	}
	var none V
	return none, false
}

// Has reports whether there is a value under k. It does not count as a read.
func (c *Cache[K, V]) Has(k K) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries.get(k) != nil
}

// read returns the entry of a key, or nil, and counts a read.
func (c *Cache[K, V]) read(k K) *entry[K, V] {
	if c.begin != nil {
		c.begin(k)
	}
	e := c.entries.get(k)
	if e == nil {
		c.stats.Misses++
		return nil
	}
	c.stats.Hits++
	c.stats.Saved += e.cost
	c.policy.hit(e)
	return e
}

// Put stores a value with its bytes and its cost to compute. It replaces a value under
// k. The policy decides which entries to evict. If it evicts none, or if the value is
// larger than the whole bound, the value is rejected.
func (c *Cache[K, V]) Put(k K, v V, bytes int64, cost time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(k, v, bytes, cost)
}

func (c *Cache[K, V]) put(k K, v V, bytes int64, cost time.Duration) {
	if e := c.entries.get(k); e != nil {
		c.dropped(e.value)
		e.value, e.cost = v, cost
		c.resize(e, bytes)
		c.policy.hit(e)
		c.shrink(e)
		return
	}
	if _, keeps := c.policy.(keepAll[K, V]); keeps && c.over(bytes) {
		c.stats.Rejected++ // no entry needs to be created
		c.dropped(v)
		return
	}
	e := c.spare
	if c.spare = nil; e == nil {
		e = new(entry[K, V])
	}
	*e = entry[K, V]{key: k, value: v, bytes: bytes, cost: cost}
	if c.options.Bytes > 0 && bytes > c.options.Bytes || !c.makeSpace(e) {
		c.stats.Rejected++
		c.dropped(v)
		c.recycle(e)
		return
	}
	c.entries.set(k, e)
	c.stats.Bytes += bytes
	c.policy.insert(e)
}

// over reports whether one more entry with the given bytes exceeds a bound.
func (c *Cache[K, V]) over(bytes int64) bool {
	o := c.options
	return o.Size > 0 && c.entries.size() >= o.Size || o.Bytes > 0 && c.stats.Bytes+bytes > o.Bytes
}

// makeSpace evicts until a new entry fits.
func (c *Cache[K, V]) makeSpace(incoming *entry[K, V]) bool {
	for c.over(incoming.bytes) {
		victim := c.policy.victim(incoming)
		if victim == nil {
			return false
		}
		c.stats.Evictions++
		c.drop(victim)
	}
	return true
}

// shrink evicts after an entry grew: others first, then the entry itself if it alone
// exceeds the bound or the policy evicts nothing else.
func (c *Cache[K, V]) shrink(grown *entry[K, V]) {
	for c.options.Bytes > 0 && c.stats.Bytes > c.options.Bytes {
		victim := c.policy.victim(grown)
		if victim == nil || grown.bytes > c.options.Bytes {
			victim = grown
		}
		c.stats.Evictions++
		last := victim == grown
		c.drop(victim)
		if last {
			return
		}
	}
}

func (c *Cache[K, V]) drop(e *entry[K, V]) {
	c.entries.remove(e.key)
	c.stats.Bytes -= e.bytes
	c.policy.remove(e)
	c.dropped(e.value)
	if c.gone != nil {
		c.gone(e.key)
	}
	c.recycle(e)
}

// recycle keeps an unused entry for the next Put, so that a full cache allocates
// nothing.
func (c *Cache[K, V]) recycle(e *entry[K, V]) {
	*e = entry[K, V]{} // releases the value
	c.spare = e
}

// Load returns the value under k. If there is none, it calls fn, at most once at a time
// per key over all callers. fn returns the value and its bytes. A value whose key is
// removed during the load is returned and not stored.
func (c *Cache[K, V]) Load(ctx context.Context, k K, fn func(ctx context.Context) (v V, bytes int64, err error)) (V, error) {
	if v, ok := c.Get(k); ok {
		return v, nil
	}
	return c.Fetch(ctx, k, fn)
}

// Fetch is [Cache.Load] for a caller that has just read k and missed. It does not count
// as another read.
func (c *Cache[K, V]) Fetch(ctx context.Context, k K, fn func(ctx context.Context) (v V, bytes int64, err error)) (V, error) {
	v, _, err := c.loads.Do(ctx, k, "a load of the cache", func(ctx context.Context) (V, error) {
		c.mu.Lock()
		if e := c.entries.get(k); e != nil { // another load has ended since
			defer c.mu.Unlock()
			return e.value, nil
		}
		removed := c.removed
		c.mu.Unlock()
		start := time.Now()
		v, bytes, err := fn(ctx)
		if err != nil {
			return v, err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.removed == removed {
			c.put(k, v, bytes, time.Since(start))
		} else {
			c.dropped(v)
		}
		return v, nil
	})
	return v, err
}

// Update changes the bytes of an entry if it still exists. It does not count as a use.
func (c *Cache[K, V]) Update(k K, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries.get(k); e != nil {
		c.resize(e, bytes)
		c.shrink(e)
	}
}

func (c *Cache[K, V]) resize(e *entry[K, V], bytes int64) {
	c.stats.Bytes += bytes - e.bytes
	e.bytes = bytes
	if c.resized != nil {
		c.resized(e)
	}
}

// Remove removes the value under k.
func (c *Cache[K, V]) Remove(k K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.removed++
	if e := c.entries.get(k); e != nil {
		c.drop(e)
	}
}

// Clear removes all values.
func (c *Cache[K, V]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.removed++
	for e := range c.entries.all() {
		c.drop(e)
	}
}

// Options returns the options of the cache.
func (c *Cache[K, V]) Options() Options { return c.options }

// Len returns the number of values.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries.size()
}

// Stats returns the counts so far.
func (c *Cache[K, V]) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

func newPolicy[K comparable, V any](o Options, held index[K, V]) (policy[K, V], error) {
	l := newList[K, V]()
	switch o.Policy {
	case "auto":
		return newAuto(o, held), nil
	case "memo", "hold":
		return keepAll[K, V]{}, nil
	case "fifo":
		return fifo[K, V]{l}, nil
	case "lifo":
		return lifo[K, V]{l}, nil
	case "lru":
		return lru[K, V]{l}, nil
	case "mru":
		return mru[K, V]{l}, nil
	case "sieve":
		return &sieve[K, V]{list: l}, nil
	case "rr":
		return newRandom[K, V](), nil
	case "w-tinylfu":
		return newTinyLFU[K, V](), nil
	case "s3-fifo":
		return newS3FIFO[K, V](), nil
	case "cost":
		return &worth[K, V]{}, nil
	}
	if slices.Contains(Policies(), o.Policy) {
		return newRegistered(o.Policy, held)
	}
	return nil, fmt.Errorf("cache: unknown policy %q; use one of %s", o.Policy, strings.Join(Policies(), ", "))
}
