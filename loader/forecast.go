package loader

import (
	"slices"
	"sync"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/order"
)

// Hits counts the hits of a cache in an epoch, by all readers together. It also
// has the hit rate that was predicted when the epoch began.
type Hits struct {
	Cache int    `json:"cache"` // index among the loader's caches
	Node  string `json:"node"`
	Epoch uint64 `json:"epoch"`
	Reads int64  `json:"reads"` // so far
	Hits  int64  `json:"hits"`  // among these
	// Predicted is the share of the epoch's reads expected to hit, from 0 to 1;
	// below 0 if unknown.
	Predicted float64 `json:"predicted"`
}

// forecasts has the forecasts of the last epochs.
type forecasts struct {
	mu   sync.Mutex
	list []*forecast // by cache, for the epoch that began last
	past []Hits      // of the epoch before
}

// A forecast is the prediction for a cache in an epoch.
type forecast struct {
	Hits
	cache       *dataset.CachedDataset
	reads, hits int64 // counters of the cache before the epoch
}

// maxForecast bounds the reads that a forecast simulates.
const maxForecast = 1 << 20

// Hits returns the hits of the loader's caches in the epoch that began last,
// and in the one before.
func (l *Loader) Hits() []Hits {
	f := &l.forecasts
	f.mu.Lock()
	defer f.mu.Unlock()
	all := append([]Hits(nil), f.past...)
	for _, c := range f.list {
		all = append(all, c.now())
	}
	return all
}

// now returns the current counters.
func (c *forecast) now() Hits {
	h := c.Hits
	reads, hits := c.cache.Counts()
	h.Reads, h.Hits = reads-c.reads, hits-c.hits
	return h
}

// begin starts an epoch. reads has the known orders in which caches will be
// read, of which n reads from a position on are to come. For other caches, and
// for those in watched, the order is unknown.
func (f *forecasts) begin(epoch uint64, reads map[int]order.Order, from, n int, caches, watched []*dataset.CachedDataset) {
	f.mu.Lock()
	defer f.mu.Unlock()
	past := make([]Hits, 0, len(f.list))
	for _, c := range f.list {
		past = append(past, c.now())
	}
	f.past, f.list = past, nil
	for k, cached := range slices.Concat(caches, watched) {
		c := &forecast{Hits: Hits{Cache: k, Node: cached.Node(), Epoch: epoch, Predicted: -1}, cache: cached}
		c.reads, c.hits = c.cache.Counts()
		if o := reads[k]; o != nil && n <= maxForecast && n > 0 {
			if hits, ok := c.cache.PredictHits(o, from, n); ok {
				c.Predicted = float64(hits) / float64(n)
			}
		}
		f.list = append(f.list, c)
	}
}
