package flow

import (
	"context"
	"errors"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// Measured is the cost of some cached results of a node.
type Measured struct {
	Results int           // number of results measured
	Compute time.Duration // time that computing them took
	Read    time.Duration // time that reading them from the store takes now
}

const measuredResults = 8

// Measure measures some results that the node cached in its last run. There are
// none without such a run, or if the node has several outputs. It computes
// nothing.
func (f *Flow) Measure(ctx context.Context, l *larder.Larder, node string) (m Measured, err error) {
	cached, err := l.Store().Manifest(ctx, f.manifestName(node))
	if errors.Is(err, store.ErrNotFound) {
		return m, nil
	}
	all := list(cached)
	for k := 0; k < measuredResults && k < len(all) && err == nil; k++ {
		e := all[k*len(all)/min(measuredResults, len(all))]
		err = m.add(ctx, l.Store(), cached.Keys[e.key])
	}
	return m, err
}

// add measures one result. It reads twice, because the first read may come from
// the disk.
func (m *Measured) add(ctx context.Context, s store.Records, k key.Key) error {
	var r store.Record
	var took [2]time.Duration
	for i := range took {
		start := time.Now()
		var err error
		if r, err = s.Get(ctx, k); errors.Is(err, store.ErrNotFound) {
			return nil // it was evicted
		} else if err != nil {
			return err
		}
		took[i] = time.Since(start)
	}
	m.Results++
	m.Compute += r.Cost
	m.Read += min(took[0], took[1])
	return nil
}
