package flow

import (
	"context"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/order"
)

// optPolicy names the policy that caches the samples that are read again
// soonest. Where the order of reads is unknown, it acts like auto.
const optPolicy = "opt"

// passes counts the passes over a node's samples with a known and an unknown
// order.
type passes struct{ known, unknown int }

// cache puts a cache around a part of a node's data, unless it is auto and
// would not pay.
func (r *run) cache(ctx context.Context, s *state, place string, part component.Samples) (component.Samples, error) {
	o := *s.Options.Cache
	if o.Policy == optPolicy {
		o.Policy = "auto"
	}
	make := func() (*dataset.CachedDataset, error) { return dataset.Cached(part, o, place, &s.stats) }
	var cached *dataset.CachedDataset
	var err error
	if r.Cached != nil {
		cached, err = r.Cached(s.Name, place, make)
	} else {
		cached, err = make()
	}
	if err != nil {
		return nil, err
	}
	if s.Options.Cache.Policy == "auto" && !larder.IsCachedOnly(ctx) && !r.decideCache(ctx, s, cached) {
		return part, nil
	}
	if s.adapts() {
		s.caches = append(s.caches, cached)
	}
	return cached, nil
}

// adapts reports whether the node's caches use a known order.
func (s *state) adapts() bool {
	return s.Options.Cache != nil && (s.Options.Cache.Policy == optPolicy || s.Options.Cache.Policy == "auto")
}

// reading calls read, in which a node may read all samples of the parts, one
// part after another. First it passes that order to the caches of the node and
// of those upstream. Where the order is unknown, caches decide by past reads.
func (r *run) reading(by *state, parts []component.Samples, read func() error) error {
	for at := range r.adapting[by.at].with(by.at).all() {
		s := r.states[at]
		for _, c := range s.caches {
			o, known := readOrder(parts, c)
			before := c.Reads()
			if known {
				c.SetFutureReads(o, 0)
			}
			defer func() {
				if known {
					c.SetFutureReads(nil, 0)
				}
				s.passes.count(c.Reads() > before, known)
			}()
		}
	}
	return read()
}

func (p *passes) count(took, known bool) {
	switch {
	case took && known:
		p.known++
	case took:
		p.unknown++
	}
}

// readOrder returns the order in which reading the parts reads c. known is
// false if it is unknown for any part.
func readOrder(parts []component.Samples, c *dataset.CachedDataset) (o order.Order, known bool) {
	var orders []order.Order
	for _, part := range parts {
		o, ok := dataset.ReadOrder(part, c)
		if !ok {
			return nil, false
		}
		orders = append(orders, o)
	}
	return order.Concat(orders...), len(orders) > 0
}

func (s *state) cacheReport() *CacheReport {
	if s.Options.Cache == nil || !worthCaching(s) || s.Component.Kind == component.Sink {
		return nil
	}
	return &CacheReport{Policy: s.Options.Cache.Policy, KnownOrders: s.passes.known, UnknownOrders: s.passes.unknown}
}
