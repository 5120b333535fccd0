package flow

import (
	"context"
	"errors"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// Measured is what some kept results of a node cost.
type Measured struct {
	Results int           // that were looked at
	Compute time.Duration // what computing them took, when that was
	Read    time.Duration // what reading them from the store takes now
}

// measuredResults is how many results are looked at.
const measuredResults = 8

// Measure looks at some results that the node kept in its last run: none, if there was
// none, or if it has several outputs. It computes nothing.
func (f *Flow) Measure(ctx context.Context, l *larder.Larder, node string) (m Measured, err error) {
	kept, err := l.Store().Manifest(ctx, f.manifestName(node))
	if errors.Is(err, store.ErrNotFound) {
		return m, nil
	}
	all := list(kept)
	for k := 0; k < measuredResults && k < len(all) && err == nil; k++ {
		e := all[k*len(all)/min(measuredResults, len(all))]
		err = m.add(ctx, l.Store(), kept.Keys[e.key])
	}
	return m, err
}

// add measures one result, twice: what was not read for long comes from the disk the
// first time.
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
