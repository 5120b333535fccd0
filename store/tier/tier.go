// Package tier combines two stores: a fast near one, which may lose records, and a durable
// far one, which others share.
//
// Records found in far are copied to near; Put writes to both. Far has the manifests, and
// its leases count for all its users. Eviction removes the copies in near first.
package tier

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// A Store presents two stores as one. Use New to create one.
type Store struct{ near, far store.Store }

var _ store.Store = (*Store)(nil)

// New returns a store that looks in near first, then in far. It closes both. If far is
// read-only, near stores new records.
func New(near, far store.Store) *Store { return &Store{near, far} }

// Get returns the record stored under k. It copies a record found in far to near.
func (s *Store) Get(ctx context.Context, k key.Key) (store.Record, error) {
	return s.get(ctx, k, store.Store.Get)
}

// GetWithoutRefresh is Get among the records that each store has seen.
func (s *Store) GetWithoutRefresh(ctx context.Context, k key.Key) (store.Record, error) {
	return s.get(ctx, k, store.Store.GetWithoutRefresh)
}

func (s *Store) get(ctx context.Context, k key.Key, get func(store.Store, context.Context, key.Key) (store.Record, error)) (store.Record, error) {
	r, err := get(s.near, ctx, k)
	if err == nil {
		return r, nil
	}
	if _, ok := s.far.(CombinedStore); ok {
		return s.getWhole(ctx, k, err)
	}
	r, ferr := get(s.far, ctx, k)
	if ferr != nil {
		return store.Record{}, worse(err, ferr)
	}
	s.copyNear(ctx, r)
	return r, nil
}

// getWhole reads a record and its provenance from far in one request.
func (s *Store) getWhole(ctx context.Context, k key.Key, near error) (store.Record, error) {
	records, err := whole(ctx, s.far, []key.Key{k})
	if err == nil && records[0].Key.IsZero() {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Record{}, worse(near, err)
	}
	_ = s.near.Put(ctx, records...) // after an error, far still has them
	r := records[0]
	r.Provenance = nil
	return r, nil
}

// worse returns the error that says more than ErrNotFound.
func worse(near, far error) error {
	if errors.Is(far, store.ErrNotFound) {
		return near
	}
	return fmt.Errorf("tier: far: %w", far)
}

// copyNear stores in near records found in far. After an error, far still has them.
func (s *Store) copyNear(ctx context.Context, records ...store.Record) {
	copies := make([]store.Record, 0, len(records))
	for _, r := range records {
		provenance, err := s.far.Provenance(ctx, r.Key)
		if err != nil {
			continue // a copy must have all fields of the original
		}
		r.Provenance = provenance
		copies = append(copies, r)
	}
	_ = s.near.Put(ctx, copies...)
}

// GetMany makes one pass over near, and one over far for keys that near lacks.
func (s *Store) GetMany(ctx context.Context, keys []key.Key) ([]store.Record, error) {
	records, err := s.near.GetMany(ctx, keys)
	if err != nil {
		records = make([]store.Record, len(keys)) // far has them, too
	}
	var missing []key.Key
	var at []int
	for i := range records {
		if records[i].Key.IsZero() {
			missing, at = append(missing, keys[i]), append(at, i)
		}
	}
	if len(missing) == 0 {
		return records, nil
	}
	more, err := whole(ctx, s.far, missing)
	if err != nil {
		return nil, fmt.Errorf("tier: far: %w", err)
	}
	var found []store.Record
	for i, r := range more {
		if !r.Key.IsZero() {
			found = append(found, r)
			r.Provenance = nil
			records[at[i]] = r
		}
	}
	_ = s.near.Put(ctx, found...) // after an error, far still has them
	return records, nil
}

// Has reports whether either store has a record under k.
func (s *Store) Has(ctx context.Context, k key.Key) (bool, error) {
	if ok, err := s.near.Has(ctx, k); ok && err == nil {
		return true, nil
	}
	return s.far.Has(ctx, k)
}

// Provenance returns the provenance of the record under k.
func (s *Store) Provenance(ctx context.Context, k key.Key) ([]byte, error) {
	p, err := s.near.Provenance(ctx, k)
	if err == nil {
		return p, nil
	}
	p, ferr := s.far.Provenance(ctx, k)
	if ferr != nil {
		return nil, worse(err, ferr)
	}
	return p, nil
}

// Put stores records in both. It returns no error if one store is full or far is read-only,
// as long as the other stores them.
func (s *Store) Put(ctx context.Context, records ...store.Record) error {
	records = stamped(records)
	near, far := s.near.Put(ctx, records...), s.far.Put(ctx, records...)
	if near != nil && far != nil {
		return errors.Join(near, far)
	}
	if near != nil { // an older record must not hide the one in far
		keys := make([]key.Key, len(records))
		for i, r := range records {
			keys[i] = r.Key
		}
		near = errors.Join(near, s.near.Delete(ctx, keys...))
	}
	if errors.Is(near, store.ErrFull) || errors.Is(far, store.ErrReadOnly) || errors.Is(far, store.ErrFull) {
		return nil
	}
	return errors.Join(near, far)
}

// stamped returns copies of records with creation times, which are then equal in both
// stores.
func stamped(records []store.Record) []store.Record {
	records = slices.Clone(records)
	for i := range records {
		if records[i].Created.IsZero() {
			records[i].Created = time.Now()
		}
	}
	return records
}

// Delete deletes records in both. It returns an error if far is read-only, because its
// records stay.
func (s *Store) Delete(ctx context.Context, keys ...key.Key) error {
	return errors.Join(s.near.Delete(ctx, keys...), s.far.Delete(ctx, keys...))
}

// Records yields the records of both stores, each once.
func (s *Store) Records(ctx context.Context) iter.Seq2[store.Info, error] {
	return func(yield func(store.Info, error) bool) {
		near := make(map[key.Key]store.Info)
		for i, err := range s.near.Records(ctx) {
			if err != nil {
				yield(store.Info{}, err)
				return
			}
			near[i.Key] = i
		}
		for i, err := range s.far.Records(ctx) {
			if copied, ok := near[i.Key]; ok && err == nil {
				i = both(copied, i)
				delete(near, i.Key)
			}
			if !yield(i, err) || err != nil {
				return
			}
		}
		for _, i := range near {
			if !yield(i, nil) {
				return
			}
		}
	}
}

// both describes a record that is in both stores.
func both(near, far store.Info) store.Info {
	if far.Used.After(near.Used) {
		near.Used = far.Used
	}
	near.Pinned = near.Pinned || far.Pinned
	return near
}

// Lease leases k among the users of either store.
func (s *Store) Lease(ctx context.Context, k key.Key) (release func(), err error) {
	near, err := s.near.Lease(ctx, k)
	if err != nil {
		return nil, err
	}
	far, err := s.far.Lease(ctx, k) // always second, so leases cannot deadlock
	if err != nil {
		near()
		return nil, err
	}
	return func() { far(); near() }, nil
}

// TryLease leases those of the keys that no user of either store holds.
func (s *Store) TryLease(ctx context.Context, keys []key.Key) (leased []bool, release func(), err error) {
	leased, near, err := s.near.TryLease(ctx, keys)
	if err != nil {
		return nil, nil, err
	}
	var mine []key.Key
	var at []int
	for i, k := range keys {
		if leased[i] {
			mine, at = append(mine, k), append(at, i)
		}
	}
	both, far, err := s.far.TryLease(ctx, mine)
	if err != nil {
		near()
		return nil, nil, err
	}
	for j, i := range at {
		leased[i] = both[j]
	}
	return leased, func() { far(); near() }, nil
}

// PutManifest stores m in far, or in near if far is read-only.
func (s *Store) PutManifest(ctx context.Context, m store.Manifest) error {
	err := s.far.PutManifest(ctx, m)
	if errors.Is(err, store.ErrReadOnly) {
		return s.near.PutManifest(ctx, m)
	}
	return err
}

// Manifest returns a manifest. A manifest in near is newer than the one in far.
func (s *Store) Manifest(ctx context.Context, name string) (store.Manifest, error) {
	m, err := s.near.Manifest(ctx, name)
	if err == nil {
		return m, nil
	}
	m, ferr := s.far.Manifest(ctx, name)
	if ferr != nil {
		return store.Manifest{}, worse(err, ferr)
	}
	return m, nil
}

// Manifests yields the manifests of both, each once.
func (s *Store) Manifests(ctx context.Context) iter.Seq2[store.Manifest, error] {
	return func(yield func(store.Manifest, error) bool) {
		near := make(map[string]bool)
		for m, err := range s.near.Manifests(ctx) {
			near[m.Name] = true
			if !yield(m, err) || err != nil {
				return
			}
		}
		for m, err := range s.far.Manifests(ctx) {
			if err == nil && near[m.Name] {
				continue
			}
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
}

// DeleteManifest deletes a manifest in both.
func (s *Store) DeleteManifest(ctx context.Context, name string) error {
	return errors.Join(s.near.DeleteManifest(ctx, name), s.far.DeleteManifest(ctx, name))
}

// Usage adds up both stores. Copies count twice as bytes and once as records.
func (s *Store) Usage(ctx context.Context) (u store.Usage, err error) {
	near, err := s.near.Usage(ctx)
	if err != nil {
		return u, err
	}
	far, err := s.far.Usage(ctx)
	if err != nil {
		return u, err
	}
	for _, err := range s.Records(ctx) {
		if err != nil {
			return u, err
		}
		u.Records++
	}
	u.Bytes = near.Bytes + far.Bytes
	if near.Limit > 0 && far.Limit > 0 {
		u.Limit = near.Limit + far.Limit
	}
	return u, nil
}

// Collect evicts from near first, where the copies are, then from far.
func (s *Store) Collect(ctx context.Context, limit int64) (freed int64, err error) {
	far, err := s.far.Usage(ctx)
	if err != nil {
		return 0, err
	}
	freed, err = s.near.Collect(ctx, max(limit-far.Bytes, 0))
	if err != nil {
		return freed, err
	}
	near, err := s.near.Usage(ctx)
	if err != nil {
		return freed, err
	}
	more, err := s.far.Collect(ctx, max(limit-near.Bytes, 0))
	if errors.Is(err, store.ErrReadOnly) {
		err = nil // a read-only store is not ours to evict from
	}
	return freed + more, err
}

// Close closes both.
func (s *Store) Close() error { return errors.Join(s.near.Close(), s.far.Close()) }
