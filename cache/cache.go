// Package cache keeps decoded values in memory, bounded in number or in bytes.
//
// An entry is a value under its key, with the bytes that it holds and what it
// took to compute. A read that finds one is a hit. A policy decides, when there
// is no room, which entry is evicted for a new one, or that the new one is not
// taken in: [Policies] names those that there are, [Register] adds others. A
// [Cache] is entries under a policy; where the order of reads is known
// beforehand, [NewOrdered] and [Expect] make use of it.
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

// Options say what a cache keeps.
type Options struct {
	Policy string // one of Policies
	Size   int    // entries at most; 0 for no bound
	Bytes  int64  // bytes at most; 0 for no bound
}

// A Cache keeps values under keys. It may be used by many goroutines. Values
// are handed out as they were put in, nil ones included.
type Cache[K comparable, V any] struct {
	options Options
	loads   singleflight.Group[K, V]

	mu       sync.Mutex
	entries  index[K, V]
	policy   policy[K, V]
	begin    func(k K)            // if not nil, told of every Get
	resized  func(e *entry[K, V]) // if not nil, told of what holds more or less by now
	gone     func(k K)            // if not nil, told of what is not held any more
	stats    Stats
	own      policy[K, V] // the policy of its own, while an order is expected
	ownBegin func(k K)
	removed  uint64 // counts Remove and Clear, so that loads notice them
	onDrop   func(V)
	spare    *entry[K, V]
}

// entry is one value, and its place in the list of a policy. There may be
// millions, so its fields are as small, and lie as close, as they can.
type entry[K comparable, V any] struct {
	key        K
	visited    bool  // sieve
	class      int16 // opt: of what it is worth
	place      int32 // rr, cost, opt: where it is in their slice
	value      V
	bytes      int64
	cost       time.Duration
	prev, next *entry[K, V]
	rank       float64      // cost, opt: the least goes
	chain      *entry[K, V] // the next in its bucket of the index
}

// Stats count what a cache did.
type Stats struct {
	Hits, Misses int64
	Evictions    int64         // entries that made room for others
	Rejected     int64         // puts that were not taken in
	Bytes        int64         // held now
	Saved        time.Duration // the cost of what hits did not compute
}

// New returns an empty cache. An unknown policy is an error, and so is a
// policy other than memo without a bound.
func New[K comparable, V any](o Options) (*Cache[K, V], error) {
	if o.Size < 0 || o.Bytes < 0 {
		return nil, fmt.Errorf("cache: bounds must not be negative: size %d, bytes %d", o.Size, o.Bytes)
	}
	if o.Policy != "memo" && o.Size == 0 && o.Bytes == 0 {
		return nil, fmt.Errorf("cache: policy %s needs a bound: a size or a number of bytes", o.Policy)
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

// follow has an empty cache do as a policy says.
func (c *Cache[K, V]) follow(p policy[K, V]) {
	c.policy = p
	if p, ok := p.(interface{ begin(k K) }); ok {
		c.begin = p.begin
	}
	if p, ok := p.(interface{ resized(e *entry[K, V]) }); ok {
		c.resized = p.resized
	}
}

// OnDrop has f told of each value that is not held any more, or that was not
// taken in. It is called before the cache is used, once. The cache is locked
// while f runs, so f must not use it.
func (c *Cache[K, V]) OnDrop(f func(V)) { c.onDrop = f }

func (c *Cache[K, V]) dropped(v V) {
	if c.onDrop != nil {
		c.onDrop(v)
	}
}

// Policies lists the names of the policies, registered ones too.
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

// Has reports whether there is a value under k. It is no read.
func (c *Cache[K, V]) Has(k K) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries.get(k) != nil
}

// read returns the entry of a key, which is read, or nil.
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

// Put takes in a value that holds so many bytes and took so long to compute.
// What is under k already is replaced, in its place. Others are evicted as
// the policy says; where it evicts none, or where the value is larger than
// the whole bound, the value is not taken in.
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
		c.stats.Rejected++ // no entry has to be made to know that
		c.dropped(v)
		return
	}
	e := c.spare
	if c.spare = nil; e == nil {
		e = new(entry[K, V])
	}
	*e = entry[K, V]{key: k, value: v, bytes: bytes, cost: cost}
	if c.options.Bytes > 0 && bytes > c.options.Bytes || !c.room(e) {
		c.stats.Rejected++
		c.dropped(v)
		c.recycle(e)
		return
	}
	c.entries.set(k, e)
	c.stats.Bytes += bytes
	c.policy.insert(e)
}

// over reports whether one more entry of so many bytes is over a bound.
func (c *Cache[K, V]) over(bytes int64) bool {
	o := c.options
	return o.Size > 0 && c.entries.size() >= o.Size || o.Bytes > 0 && c.stats.Bytes+bytes > o.Bytes
}

// room evicts until a new entry fits.
func (c *Cache[K, V]) room(incoming *entry[K, V]) bool {
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

// shrink evicts after an entry grew: others first, and the entry itself if it
// alone is over the bound or the policy gives up nothing else.
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

// recycle keeps an entry that is not in use for the next that is needed: a full
// cache allocates nothing.
func (c *Cache[K, V]) recycle(e *entry[K, V]) {
	*e = entry[K, V]{} // lets go of the value
	c.spare = e
}

// Load returns the value under k, loading it with fn if it is not there: once
// at a time, whoever asks. fn returns the value and the bytes that it holds. A
// key that is removed while it is loaded is handed out, and not taken in.
func (c *Cache[K, V]) Load(ctx context.Context, k K, fn func(ctx context.Context) (v V, bytes int64, err error)) (V, error) {
	if v, ok := c.Get(k); ok {
		return v, nil
	}
	return c.Fetch(ctx, k, fn)
}

// Fetch is [Cache.Load] for who has read k just before, and not found it: it counts as
// no read of its own.
func (c *Cache[K, V]) Fetch(ctx context.Context, k K, fn func(ctx context.Context) (v V, bytes int64, err error)) (V, error) {
	v, _, err := c.loads.Do(ctx, k, "a load of the cache", func(ctx context.Context) (V, error) {
		c.mu.Lock()
		if e := c.entries.get(k); e != nil { // another load has ended since we looked
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

// Update changes the number of bytes that an entry is known to hold, if it is
// still there. It is no use of the entry.
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

// Remove forgets the value under k.
func (c *Cache[K, V]) Remove(k K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.removed++
	if e := c.entries.get(k); e != nil {
		c.drop(e)
	}
}

// Clear forgets all values.
func (c *Cache[K, V]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.removed++
	for e := range c.entries.all() {
		c.drop(e)
	}
}

// Options returns what the cache was made with.
func (c *Cache[K, V]) Options() Options { return c.options }

// Len returns the number of values kept.
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

// newPolicy returns a policy for entries that are found in held.
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
	return nil, fmt.Errorf("cache: there is no policy %q; there are %s", o.Policy, strings.Join(Policies(), ", "))
}
