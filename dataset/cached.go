package dataset

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/larder-data/larder/cache"
	"github.com/larder-data/larder/order"
)

// Cached keeps samples of ds in memory, with the values that were read of
// them, under an eviction policy. A byte bound counts what is really held: it
// grows as values are read. Hits are counted in t, which may be nil, as those of a
// node or of one of its outputs: what [MapOptions] call it.
func Cached(ds Dataset[Sample], o cache.Options, node string, t *Tally) (*CachedDataset, error) {
	c, err := cache.New[int, cachedSample](o)
	if err != nil {
		return nil, err
	}
	c.OnDrop(func(s cachedSample) { s.watcher.ended.Store(true) })
	if t == nil {
		t = new(Tally)
	}
	return &CachedDataset{ds: ds, cache: c, node: node, tally: t, handed: t.at(node)}, nil
}

// A CachedDataset keeps samples in memory. See [Cached].
type CachedDataset struct {
	ds    Dataset[Sample]
	cache *cache.Cache[int, cachedSample]
	node  string
	tally *Tally

	mu      sync.Mutex // of what follows
	readers int        // that read in orders of their own

	handed *handed  // what of it was handed out
	probed sync.Map // samples that were probed and not read since
}

// cachedSample is a sample with what watches its items as long as it is held.
type cachedSample struct {
	Sample
	watcher *watcher
}

// Len implements Dataset.
func (c *CachedDataset) Len() int { return c.ds.Len() }

// Reads returns how many samples were asked for.
func (c *CachedDataset) Reads() int64 {
	s := c.cache.Stats()
	return s.Hits + s.Misses
}

// Held reports whether a sample is in memory.
func (c *CachedDataset) Held(i int) bool {
	return c.cache.Has(i)
}

// Counts returns how many samples were asked for, and how many of them were there.
func (c *CachedDataset) Counts() (reads, hits int64) {
	s := c.cache.Stats()
	return s.Hits + s.Misses, s.Hits
}

// Node returns the name that the dataset was given: that of a node, or of one of its outputs.
func (c *CachedDataset) Node() string { return c.node }

// InMemory returns the policy and the bounds of the cache, how many samples are in memory, and
// what was done.
func (c *CachedDataset) InMemory() (cache.Options, int, cache.Stats) {
	return c.cache.Options(), c.cache.Len(), c.cache.Stats()
}

// Share notes that so many more readers read the dataset in orders of their own, or less.
// While there are several, no order is expected: what one of them reads next says nothing
// about the others.
func (c *CachedDataset) Share(by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.readers += by; c.readers > 1 {
		cache.Expect(c.cache, nil, 0)
	}
}

// Forecast returns how many of n reads will find their sample, if the dataset is now read
// in an order, from a position on, and has been told so; ok is false if that is not
// known yet.
func (c *CachedDataset) Forecast(reads order.Order, from, n int) (hits int, ok bool) {
	return cache.Forecast(c.cache, reads, from, n)
}

// Expect says in which order the dataset will be read, from a position on, so that it can keep what
// is read again soonest; nil says that this is not known any more.
// It says nothing while several read it ([CachedDataset.Share]).
func (c *CachedDataset) Expect(reads order.Order, from int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.readers <= 1 {
		cache.Expect(c.cache, reads, from)
	}
}

// At implements Dataset.
func (c *CachedDataset) At(ctx context.Context, i int) (Sample, error) {
	if s, ok := c.cache.Get(i); ok {
		if _, probed := c.probed.LoadAndDelete(i); !probed {
			c.tally.hand(c.handed, i, fromMemory)
		}
		return s.Sample, nil
	}
	return c.load(ctx, i)
}

// Probe returns a sample ahead of those who will read it: the first read after
// that does not count as a hit, as what it saves has just been spent.
func (c *CachedDataset) Probe(ctx context.Context, i int) (Sample, error) {
	c.probed.Store(i, nil)
	return c.load(ctx, i)
}

func (c *CachedDataset) load(ctx context.Context, i int) (Sample, error) {
	s, err := c.cache.Fetch(ctx, i, func(ctx context.Context) (cachedSample, int64, error) {
		s, err := c.ds.At(ctx, i)
		if err != nil {
			return cachedSample{}, 0, err
		}
		w, bytes := c.follow(i, s)
		return cachedSample{s, w}, bytes, nil
	})
	return s.Sample, err
}

// sampleBytes is about what a sample holds before any value is read.
func sampleBytes(s Sample) int64 { return 64 + 192*int64(s.Len()) }

// follow keeps the cache's count of bytes true while values of s are read, until
// the cache drops s.
func (c *CachedDataset) follow(i int, s Sample) (*watcher, int64) {
	var bytes atomic.Int64
	bytes.Store(sampleBytes(s))
	w := &watcher{told: func(n int64) { c.cache.Update(i, bytes.Add(n)) }}
	for f := range s.Fields() {
		f.Item.watch(w)
	}
	for _, m := range s.Makings() { // what it makes is held, and what it reads need not be
		m.leave()
	}
	return w, bytes.Load() // what had been read before counts from the start
}

// Keeping has everything kept that makes the samples of ds: it is how a
// checkpoint is read back.
func Keeping(ds Dataset[Sample]) Dataset[Sample] { return &keeping{ds} }

type keeping struct{ ds Dataset[Sample] }

func (k *keeping) Len() int { return k.ds.Len() }

func (k *keeping) At(ctx context.Context, i int) (Sample, error) {
	s, err := k.ds.At(ctx, i)
	if err != nil {
		return Sample{}, err
	}
	for _, m := range s.Makings() {
		m.MarkKept(ctx)
	}
	return s, nil
}
