package inventory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// Waste says what [Collect] removes. The zero Waste is what exceeds the store's own
// limit.
type Waste struct {
	// MaxBytes bounds what the store uses on its medium; records with the least
	// value are removed first. 0 means the store's own limit.
	MaxBytes int64
	// OlderThan, if not 0, removes records that were not used for this time.
	OlderThan time.Duration
	// Nodes, if it does not select all, removes these records; with OlderThan, only
	// the old ones among them.
	Nodes Selection
	// Pinned removes pinned records, too.
	Pinned bool
	// Pins, if not nil, reports whether a node of an existing flow file pins
	// anything. If not, its old pins are released.
	Pins func(file, node string) bool
	// DryRun removes nothing, and reports what would be removed.
	DryRun bool
}

// Collect removes waste. First it deletes the manifests of missing flow files, and
// of nodes that pin nothing any longer, which unpins their records.
func Collect(ctx context.Context, s store.Store, w Waste) (Removed, error) {
	rm, err := newRemover(ctx, s, w.DryRun)
	if err != nil {
		return Removed{}, err
	}
	released, err := abandoned(ctx, s, w.Pins)
	if err != nil {
		return Removed{}, err
	}
	c := collection{Waste: w, remover: rm, now: time.Now()}
	if c.pinned, err = pinned(ctx, s, released); err != nil {
		return Removed{}, err
	}
	if !w.DryRun {
		for _, name := range released {
			if err := s.DeleteManifest(ctx, name); err != nil {
				return Removed{}, err
			}
		}
	}
	if err := c.byRecord(ctx); err != nil {
		return Removed{}, err
	}
	if w.DryRun {
		return c.estimate(ctx, released)
	}
	if err := c.bySize(ctx); err != nil {
		return Removed{}, err
	}
	return rm.removed(ctx, released)
}

// pinned returns the keys in pinned manifests, except those in forgotten, and the
// targets of links among them.
func pinned(ctx context.Context, s store.Store, forgotten []string) (map[key.Key]bool, error) {
	keys := map[key.Key]bool{}
	for m, err := range manifests(ctx, s) {
		if err != nil {
			return nil, err
		}
		if m.Pinned && !slices.Contains(forgotten, m.Name) {
			for _, k := range m.Keys {
				keys[k] = true
			}
		}
	}
	return keys, followLinks(ctx, s, keys)
}

type collection struct {
	Waste
	*remover
	pinned map[key.Key]bool
	now    time.Time
}

// byRecord removes records that are waste whatever the size of the store.
func (c *collection) byRecord(ctx context.Context) error {
	if c.OlderThan == 0 && c.Nodes.IsAll() {
		return nil
	}
	for r, err := range Records(ctx, c.s, c.Nodes) {
		if err == nil && c.wasted(r) {
			err = c.remove(ctx, r)
		}
		if err != nil {
			return err
		}
	}
	return c.flush(ctx)
}

// wasted reports whether r is old, or of the nodes, or both if both are requested.
func (c *collection) wasted(r Record) bool {
	if c.stays(r) || c.OlderThan == 0 && c.Nodes.IsAll() {
		return false
	}
	if r.Kind == Operation && c.OlderThan > 0 { // the use of results does not use it
		return false
	}
	return c.Nodes.has(r) && c.now.Sub(r.Used) >= c.OlderThan
}

// stays reports whether r is pinned and pins are respected.
func (c *collection) stays(r Record) bool { return c.pinned[r.Key] && !c.Pinned }

// bySize makes the store evict down to its limit, and then evicts pinned records if
// it still exceeds the limit. It finds evicted records by comparing the store
// before and after.
func (c *collection) bySize(ctx context.Context) error {
	before, err := c.count(ctx)
	if err != nil {
		return err
	}
	if err := c.collect(ctx, c.MaxBytes); err != nil {
		return err
	}
	if c.Pinned {
		if err := c.evictPinned(ctx); err != nil {
			return err
		}
	}
	after, err := c.count(ctx)
	if err != nil {
		return err
	}
	for id, b := range before {
		a := after[id]
		if a == nil {
			a = &Node{}
		}
		c.gone.join(id, Node{
			Records: max(b.Records-a.Records, 0), Links: max(b.Links-a.Links, 0), Pinned: max(b.Pinned-a.Pinned, 0),
			Bytes: max(b.Bytes-a.Bytes, 0), Cost: max(b.Cost-a.Cost, 0),
		})
	}
	return nil
}

func (c *collection) count(ctx context.Context) (nodes, error) {
	all := nodes{}
	for r, err := range Records(ctx, c.s, Selection{}) {
		if err != nil {
			return nil, err
		}
		all.add(r)
	}
	return all, nil
}

// evictPinned removes pinned records, those with the least value first, while the
// store exceeds its limit.
func (c *collection) evictPinned(ctx context.Context) error {
	over, err := c.over(ctx)
	if err != nil || over <= 0 {
		return err
	}
	list, err := c.worthLeast(ctx)
	if err != nil {
		return err
	}
	for _, r := range list {
		if over <= 0 {
			break
		}
		over -= estimated(r)
		c.keys = append(c.keys, r.Key) // bySize counts it
	}
	return c.collect(ctx, c.MaxBytes)
}

// over returns by how many bytes the store exceeds its limit.
func (c *collection) over(ctx context.Context) (int64, error) {
	u, err := c.s.Usage(ctx)
	if err != nil {
		return 0, err
	}
	limit := cmp.Or(c.MaxBytes, u.Limit)
	if limit == 0 {
		return 0, nil
	}
	return u.Bytes - limit, nil
}

// worthLeast returns the records that may be removed, in the eviction order of
// stores.
func (c *collection) worthLeast(ctx context.Context) (list []Record, err error) {
	for r, err := range Records(ctx, c.s, Selection{}) {
		if err != nil {
			return nil, err
		}
		if !c.stays(r) {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.EvictionPriority(c.now), b.EvictionPriority(c.now)), a.Used.Compare(b.Used), byKey(a, b))
	})
	return list, nil
}

func (c *collection) estimate(ctx context.Context, released []string) (Removed, error) {
	over, err := c.over(ctx)
	if err != nil {
		return Removed{}, err
	}
	list, err := c.worthLeast(ctx)
	if err != nil {
		return Removed{}, err
	}
	var freed int64
	for _, r := range list {
		if c.wasted(r) {
			freed += estimated(r)
		}
	}
	for _, r := range list {
		if over <= freed {
			break
		}
		if !c.wasted(r) {
			freed += estimated(r)
			c.gone.add(r)
		}
	}
	return Removed{Nodes: c.gone.sorted(), Manifests: released, Freed: freed}, nil
}

// estimated returns the approximate size of a record on the medium, with its header
// and its provenance.
func estimated(r Record) int64 { return r.Size + 500 }
