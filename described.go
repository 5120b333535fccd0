package larder

import (
	"context"
	"sync"
	"time"

	"github.com/larder-data/larder/internal/app/records"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// appendProvenance appends the provenance of an action, which refers to the description of
// its operation. The next put stores a missing one.
func (l *Larder) appendProvenance(ctx context.Context, to []byte, a *key.Action, reads []Read) []byte {
	parts := make([]key.Part, len(reads))
	for i, r := range reads {
		parts[i] = key.Part{Kind: key.ReadPart, Name: string(r.Kind) + " " + r.Name, Value: r.Digest.String(), Digest: key.DigestOf(r.Digest[:])}
	}
	d := a.Description()
	if d == nil {
		return a.AppendProvenance(to, key.Key{}, parts...)
	}
	l.descriptions.need(ctx, l.store, d)
	return a.AppendProvenance(to, l.Key(d.Key), parts...)
}

const (
	// describedFor is how long a description is taken to be stored without a look, because
	// another process may remove all records. Only explanations need it.
	describedFor = time.Second
	// descriptionCost keeps a description longer than the results, because a hit of a result
	// does not count as a use of its description.
	descriptionCost = time.Hour
)

// descriptions are the descriptions of operations whose results a Larder stores.
type descriptions struct {
	mu      sync.Mutex
	stored  map[key.Key]time.Time // when they were last seen
	missing []store.Record        // for the next Put
}

// need makes sure that a description is stored, or missing.
func (all *descriptions) need(ctx context.Context, s store.Records, d *key.Description) {
	now := time.Now()
	all.mu.Lock()
	seen := all.stored[d.Key]
	if all.stored == nil {
		all.stored = map[key.Key]time.Time{}
	}
	all.stored[d.Key] = now
	all.mu.Unlock()
	if now.Sub(seen) <= describedFor {
		return
	}
	if has, err := s.Has(ctx, d.Key); err == nil && has {
		return
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	all.missing = append(all.missing, store.Record{Key: d.Key, Type: records.Description, Payload: d.Bytes, Cost: descriptionCost})
}

// take returns the missing descriptions, which the caller stores.
func (all *descriptions) take() []store.Record {
	all.mu.Lock()
	defer all.mu.Unlock()
	missing := all.missing
	all.missing = nil
	return missing
}
