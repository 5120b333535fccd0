package server

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/larder-data/larder/cache"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/loader"
)

// editions holds the parts of a pipeline per epoch, if its flow depends on the
// epoch: the first, and the latest two, because ranks may be an epoch apart.
type editions struct {
	caches *sharedCaches
	turn   chan struct{} // mutex

	mu     sync.Mutex
	first  *edition
	recent []*edition
	closed bool
}

const recentEditions = 2

func newEditions(caches *sharedCaches) *editions {
	return &editions{caches: caches, turn: make(chan struct{}, 1)}
}

// An edition holds the parts for an epoch.
type edition struct {
	epoch   uint64
	data    []loader.Data
	shared  []*sharedCache           // caches above the parts
	ordered []*dataset.CachedDataset // those among them that use a known order
}

// others returns the caches that do not use a known order.
func (e *edition) others() (all []*dataset.CachedDataset) {
	for _, c := range e.shared {
		if !slices.Contains(e.ordered, c.cached) {
			all = append(all, c.cached)
		}
	}
	return all
}

// of returns the parts for an epoch.
func (s *editions) of(ctx context.Context, b *opening, epoch uint64) ([]loader.Data, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if e := s.find(epoch); e != nil {
		return e.data, nil
	}
	f, err := b.parse(epoch)
	if err != nil {
		return nil, err
	}
	var seen *flow.Snapshot
	if slices.ContainsFunc(f.Nodes, func(n *flow.Node) bool { return n.Options.Cache != nil }) {
		if seen, err = f.Snapshot(ctx, b.options()); err != nil {
			return nil, err
		}
	}
	e, err := s.open(ctx, b, epoch, f, seen)
	if err != nil {
		return nil, err
	}
	return e.data, nil
}

func (s *editions) find(epoch uint64) *edition {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.recent {
		if e.epoch == epoch {
			return e
		}
	}
	return nil
}

// open opens the parts of a flow with the given snapshot of its files.
func (s *editions) open(ctx context.Context, b *opening, epoch uint64, f *flow.Flow, seen *flow.Snapshot) (*edition, error) {
	e := &edition{epoch: epoch}
	var mu sync.Mutex // nodes are built concurrently
	o := b.options()
	o.Cached = func(node, output string, make func() (*dataset.CachedDataset, error)) (*dataset.CachedDataset, error) {
		c, err := s.caches.get(ctx, s, seen.Of(node), b.name(), output, make)
		if err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		e.shared = append(e.shared, c)
		return c.cached, nil
	}
	var err error
	for _, part := range b.request.Parts {
		if err = e.add(ctx, b, f, part.Node, o); err != nil {
			break
		}
	}
	if err != nil {
		s.caches.leave(s, e.shared)
		return nil, err
	}
	s.take(e)
	return e, nil
}

// add opens a part.
func (e *edition) add(ctx context.Context, b *opening, f *flow.Flow, node string, o flow.RunOptions) error {
	d, ordered, err := f.OpenCached(ctx, node, o)
	if err != nil {
		return b.reported(err)
	}
	one, err := d.Single()
	if err != nil {
		return requestError{fmt.Errorf("node %s: %w", node, err)}
	}
	e.data = append(e.data, one)
	for _, c := range ordered {
		if !slices.Contains(e.ordered, c) {
			e.ordered = append(e.ordered, c)
		}
	}
	return nil
}

// take adds an edition, and evicts an older one.
func (s *editions) take(e *edition) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		s.caches.leave(s, e.shared)
	case s.first == nil:
		s.first = e
	default:
		s.recent = append(s.recent, e)
		if len(s.recent) > recentEditions {
			s.caches.leave(s, s.recent[0].shared)
			s.recent = slices.Delete(s.recent, 0, 1)
		}
	}
}

// close releases the caches.
func (s *editions) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, e := range append(s.recent, s.first) {
		if e != nil {
			s.caches.leave(s, e.shared)
		}
	}
	s.first, s.recent = nil, nil
}

// sharedCaches are the caches of open nodes. Pipelines share a cache if their node
// has the same dependencies, whatever their order and batches.
type sharedCaches struct {
	mu  sync.Mutex
	all []*sharedCache
}

// A sharedCache is the cache of a node, or of one of its outputs.
type sharedCache struct {
	look   *flow.Snapshot // snapshot of the node's dependencies; nil if it is not shared
	flow   string         // the first flow that used it, for display
	output string
	cached *dataset.CachedDataset
	users  map[*editions]int
}

// get returns the cache of a node with this snapshot, or calls make if there is
// none. leave must release it.
func (s *sharedCaches) get(ctx context.Context, by *editions, seen *flow.Snapshot, flow, output string, make func() (*dataset.CachedDataset, error)) (*sharedCache, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.all {
		if c.look != nil && seen != nil && c.output == output && seen.Same(ctx, c.look) {
			c.use(by, 1)
			return c, nil
		}
	}
	cached, err := make()
	if err != nil {
		return nil, err
	}
	c := &sharedCache{look: seen, flow: flow, output: output, cached: cached, users: map[*editions]int{}}
	c.use(by, 1)
	s.all = append(s.all, c)
	return c, nil
}

// use counts the uses of the cache by a pipeline; more is positive or negative.
func (c *sharedCache) use(by *editions, more int) {
	before := len(c.users)
	if c.users[by] += more; c.users[by] == 0 {
		delete(c.users, by)
	}
	c.cached.Share(len(c.users) - before)
}

// leave releases caches, and drops those without a pipeline.
func (s *sharedCaches) leave(by *editions, caches []*sharedCache) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range caches {
		c.use(by, -1)
	}
	s.all = slices.DeleteFunc(s.all, func(c *sharedCache) bool { return len(c.users) == 0 })
}

// A CacheStatus describes the memory cache of a node.
type CacheStatus struct {
	Flow        string `json:"flow"`
	Node        string `json:"node"` // or NODE.OUTPUT
	Policy      string `json:"policy"`
	Entries     int    `json:"entries"`
	Bytes       int64  `json:"bytes"`
	MostEntries int    `json:"most_entries"` // its bound; 0 without one in entries
	MostBytes   int64  `json:"most_bytes"`   // its bound; 0 without one in bytes
	Reads       int64  `json:"reads"`
	Hits        int64  `json:"hits"`
	Pipelines   int    `json:"pipelines"` // that read through it
}

// statusOf returns the status of a cache.
func statusOf(o cache.Options, entries int, s cache.Stats) CacheStatus {
	return CacheStatus{Policy: o.Policy, Entries: entries, Bytes: s.Bytes, MostEntries: o.Size, MostBytes: o.Bytes, Reads: s.Hits + s.Misses, Hits: s.Hits}
}

func (s *sharedCaches) status() []CacheStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]CacheStatus, 0, len(s.all))
	for _, c := range s.all {
		st := statusOf(c.cached.InMemory())
		st.Flow, st.Node, st.Pipelines = c.flow, c.output, len(c.users)
		all = append(all, st)
	}
	return all
}
