package dataset

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/larder-data/larder/cache"
	"github.com/larder-data/larder/order"
)

// Cached caches samples of ds in memory, with the values read of them, under an eviction
// policy. A byte bound counts the memory actually used, which grows as values are read.
// Hits are counted in t, which may be nil, for the node or output that node names
// ([MapOptions]).
func Cached(ds Dataset[Sample], o cache.Options, node string, t *NodeStats) (*CachedDataset, error) {
	c, err := cache.New[int, cachedSample](o)
	if err != nil {
		return nil, err
	}
	c.OnDrop(func(s cachedSample) { s.watcher.ended.Store(true) })
	if t == nil {
		t = new(NodeStats)
	}
	return &CachedDataset{ds: ds, n: ds.Len(), cache: c, node: node, stats: t, handed: t.at(node)}, nil
}

// A CachedDataset caches samples in memory. See [Cached].
type CachedDataset struct {
	ds    Dataset[Sample]
	n     int // number of samples
	cache *cache.Cache[int, cachedSample]
	node  string
	stats *NodeStats

	mu      sync.Mutex // guards the fields below
	readers int        // readers in orders of their own

	handed *handed  // samples already returned
	probed sync.Map // samples probed and not read since
}

// cachedSample is a sample with the watcher of its items while it is cached.
type cachedSample struct {
	Sample
	watcher *watcher
}

// Len implements Dataset.
func (c *CachedDataset) Len() int { return c.n }

// Reads returns how many samples were requested.
func (c *CachedDataset) Reads() int64 {
	s := c.cache.Stats()
	return s.Hits + s.Misses
}

// Held reports whether a sample is in memory.
func (c *CachedDataset) Held(i int) bool {
	return c.cache.Has(i)
}

// Counts returns how many samples were requested, and how many of them were in memory.
func (c *CachedDataset) Counts() (reads, hits int64) {
	s := c.cache.Stats()
	return s.Hits + s.Misses, s.Hits
}

// Node returns the name of the node, or of one of its outputs, that was passed to
// [Cached].
func (c *CachedDataset) Node() string { return c.node }

// InMemory returns the policy and bounds of the cache, the number of samples in memory,
// and the statistics.
func (c *CachedDataset) InMemory() (cache.Options, int, cache.Stats) {
	return c.cache.Options(), c.cache.Len(), c.cache.Stats()
}

// Share adds by, which may be negative, to the number of readers that read in orders of
// their own. While there are several, no order is expected, because the order of one
// reader does not predict the reads of the others.
func (c *CachedDataset) Share(by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.readers += by; c.readers > 1 {
		cache.SetFutureReads(c.cache, nil, 0)
	}
}

// PredictHits returns how many of the next n reads will hit, if the dataset is read in the
// order reads from a position on, and [CachedDataset.SetFutureReads] was called with it. ok is
// false if that is not known yet.
func (c *CachedDataset) PredictHits(reads order.Order, from, n int) (hits int, ok bool) {
	return cache.PredictHits(c.cache, reads, from, n)
}

// SetFutureReads announces the order in which the dataset will be read from a position on, so
// that the cache keeps the samples that are needed soonest. Nil means that the order is
// unknown. The call has no effect while there are several readers
// ([CachedDataset.Share]).
func (c *CachedDataset) SetFutureReads(reads order.Order, from int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.readers <= 1 {
		cache.SetFutureReads(c.cache, reads, from)
	}
}

// At implements Dataset.
func (c *CachedDataset) At(ctx context.Context, i int) (Sample, error) {
	if s, ok := c.cache.Get(i); ok {
		if _, probed := c.probed.LoadAndDelete(i); !probed {
			c.stats.hand(c.handed, i, fromMemory)
		}
		return s.Sample, nil
	}
	return c.load(ctx, i)
}

// Probe returns a sample before its readers request it. The first read after that does
// not count as a hit, because the time that it saves has just been spent.
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

// sampleBytes estimates the memory of a sample before any value is read.
func sampleBytes(s Sample) int64 { return 64 + 192*int64(s.Len()) }

// follow keeps the cache's byte count up to date while values of s are read, until the
// cache drops s.
func (c *CachedDataset) follow(i int, s Sample) (*watcher, int64) {
	var bytes atomic.Int64
	bytes.Store(sampleBytes(s))
	w := &watcher{notified: func(n int64) { c.cache.Update(i, bytes.Add(n)) }}
	for f := range s.Fields() {
		f.Item.watch(w)
	}
	for _, e := range s.Executions() { // the outputs are cached, so the inputs need not stay
		e.releaseWhenDone()
	}
	return w, bytes.Load() // values read before count from the start
}

// WithCaching returns ds with every execution that computes its samples marked to be cached.
// A checkpoint is read back this way.
func WithCaching(ds Dataset[Sample]) Dataset[Sample] { return &keeping{ds, ds.Len()} }

type keeping struct {
	ds Dataset[Sample]
	n  int // number of samples
}

func (k *keeping) Len() int { return k.n }

func (k *keeping) At(ctx context.Context, i int) (Sample, error) {
	s, err := k.ds.At(ctx, i)
	if err != nil {
		return Sample{}, err
	}
	for _, e := range s.Executions() {
		e.MarkCached(ctx)
	}
	return s, nil
}
