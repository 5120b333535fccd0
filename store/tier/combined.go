package tier

import (
	"context"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// CombinedStore is an optional ability of a far store: it returns records with their provenance, so
// copying them to near takes no second request.
type CombinedStore interface {
	// GetCombined is GetMany with provenance.
	GetCombined(ctx context.Context, keys []key.Key) ([]store.Record, error)
}

// whole returns the records of a store under keys, with provenance. It leaves out records
// whose provenance cannot be read, because a copy must have all fields of the original.
func whole(ctx context.Context, s store.Records, keys []key.Key) ([]store.Record, error) {
	if w, ok := s.(CombinedStore); ok {
		return w.GetCombined(ctx, keys)
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
