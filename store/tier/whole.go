package tier

import (
	"context"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// Whole is what a far store may have beside what it needs: where records come with
// their provenance, copying them near takes no second look.
type Whole interface {
	// GetWhole is GetMany with provenance.
	GetWhole(ctx context.Context, keys []key.Key) ([]store.Record, error)
}

// whole returns the records that a store has under keys, with provenance. One of which
// that cannot be had is left out, as a copy says as much as what it is a copy of.
func whole(ctx context.Context, s store.Records, keys []key.Key) ([]store.Record, error) {
	if w, ok := s.(Whole); ok {
		return w.GetWhole(ctx, keys)
	}
	records, err := s.GetMany(ctx, keys)
	if err != nil {
		return nil, err
	}
	for i := range records {
		if records[i].Key.IsZero() {
			continue
		}
		if records[i].Provenance, err = s.Provenance(ctx, records[i].Key); err != nil {
			records[i] = store.Record{}
		}
	}
	return records, nil
}
