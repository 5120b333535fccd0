package loader

import (
	"slices"
	"sync"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/order"
)

// Hits say how often a cache had what was read of it in an epoch, by all readers
// together, and how often that was to be expected when the epoch began.
type Hits struct {
	Cache int    `json:"cache"` // which of the loader's
	Node  string `json:"node"`
	Epoch uint64 `json:"epoch"`
	Reads int64  `json:"reads"` // so far
	Hits  int64  `json:"hits"`  // of these
	// Predicted is the part of the epoch's reads that were to hit, from 0 to 1; below 0
	// where it could not be told.
	Predicted float64 `json:"predicted"`
}

// forecasts are what is known of the caches in the last epochs.
type forecasts struct {
	mu   sync.Mutex
	list []*forecast // by cache: of the epoch that was begun last
	past []Hits      // of the epoch before
}

// A forecast is of a cache in an epoch.
type forecast struct {
	Hits
	cache       *dataset.CachedDataset
	reads, hits int64 // of the cache, before the epoch
}

// mostForecast is how many reads are gone through for a forecast, at 0.4 us each.
const mostForecast = 1 << 20

// Hits returns how the loader's caches fared in the epoch that was begun last, and in
// the one before that.
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

// now is how it has gone so far.
func (c *forecast) now() Hits {
	h := c.Hits
	reads, hits := c.cache.Counts()
	h.Reads, h.Hits = reads-c.reads, hits-c.hits
	return h
}

// begin notes that an epoch begins, of which caches will be read in known orders from a
// position on, n times. Of others, and of those that are watched, no order is known.
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
		if o := reads[k]; o != nil && n <= mostForecast && n > 0 {
			if hits, ok := c.cache.Forecast(o, from, n); ok {
				c.Predicted = float64(hits) / float64(n)
			}
		}
		f.list = append(f.list, c)
	}
}
