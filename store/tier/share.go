package tier

import (
	"context"
	"errors"

	"github.com/larder-data/larder/internal/app/records"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/pool"
	"github.com/larder-data/larder/store"
)

// shared is a near store that shares the results that others computed.
type shared struct {
	store.Store // near
	far         store.Store
	behind      *behind
	missed      missed
}

// requestBytes is how many bytes a lookup of one key is assumed to transfer.
const requestBytes = 4 << 10

// Share returns a store that combines near, which is durable, with the results of far. It
// closes both.
//
// Records found in far are copied to near. Put writes to both, except records about files
// of this machine. It waits for near alone: records are stored in far in the background, and
// their leases end there afterwards. Up to 64 MiB of records wait; Close waits for them.
// Leases count for all users of far. Listing, counting, manifests, pins
// and eviction concern near only, so far may lose records, be unreachable, or bound itself.
// It writes its errors to its own log; only Delete, which deletes in both, returns an error
// of far.
//
// A record in near is not looked up in far, except records that change, such as the
// dependencies of a computation: for these, Get and GetMany return the later one. GetWithoutRefresh
// skips far for keys that it did not have a moment ago.
func Share(near, far store.Store) store.Store {
	return &shared{Store: near, far: far, behind: newBehind(near, far)}
}

// isShared reports whether a record counts on other machines, too.
func isShared(r *store.Record) bool {
	return r.Type != records.FileDigest && r.Type != records.Waiting && r.Type != records.Holder
}

// changes reports whether other users may have put another record under the key since.
func changes(r store.Record) bool {
	return r.Type == records.Recorded || r.Type == records.Waiting || r.Type == records.Holder
}

func (s *shared) Get(ctx context.Context, k key.Key) (store.Record, error) {
	r, err := s.Store.Get(ctx, k)
	if err == nil {
		s.behind.offer(r)
	}
	if err == nil && !changes(r) {
		return r, nil
	}
	return s.later(ctx, k, r, err)
}

func (s *shared) GetWithoutRefresh(ctx context.Context, k key.Key) (store.Record, error) {
	r, err := s.Store.GetWithoutRefresh(ctx, k)
	if err == nil {
		s.behind.offer(r)
	}
	if err == nil || s.missed.lately(k) {
		return r, err
	}
	return s.later(ctx, k, r, err)
}

// later returns the record that far has under k, unless the record of near is as new.
func (s *shared) later(ctx context.Context, k key.Key, near store.Record, missing error) (store.Record, error) {
	records := []store.Record{near}
	if missing != nil {
		records[0] = store.Record{}
	}
	defer pool.RoundTrip(ctx, requestBytes)()
	s.fill(ctx, []key.Key{k}, records)
	switch {
	case !records[0].Key.IsZero():
		return records[0], nil
	case context.Cause(ctx) != nil:
		return store.Record{}, context.Cause(ctx)
	}
	return store.Record{}, missing
}

// GetMany makes one pass over near, and one over far for keys that near lacks or whose
// records may have changed.
func (s *shared) GetMany(ctx context.Context, keys []key.Key) ([]store.Record, error) {
	records, err := s.Store.GetMany(ctx, keys)
	if err != nil {
		records = make([]store.Record, len(keys)) // far may have them
	}
	s.behind.offer(records...)
	var asked []key.Key
	var at []int
	for i, r := range records {
		if r.Key.IsZero() || changes(r) {
			asked, at = append(asked, keys[i]), append(at, i)
		}
	}
	if len(asked) == 0 {
		return records, nil
	}
	found := make([]store.Record, len(asked))
	for j, i := range at {
		found[j] = records[i]
	}
	defer pool.RoundTrip(ctx, int64(len(asked))*requestBytes)()
	s.fill(ctx, asked, found)
	for j, i := range at {
		records[i] = found[j]
	}
	return records, context.Cause(ctx)
}

// fill replaces records of local by later ones that far has under their keys, and copies
// these to near.
func (s *shared) fill(ctx context.Context, keys []key.Key, local []store.Record) {
	far, err := whole(ctx, s.far, keys)
	if err != nil {
		return
	}
	s.missed.note(keys, far)
	var copies []store.Record
	for i, r := range far {
		if r.Key.IsZero() || r.Type == records.FileDigest || !r.Created.After(local[i].Created) && !local[i].Key.IsZero() {
			continue
		}
		if r.Type != records.Waiting && r.Type != records.Holder { // the others are removed when they end
			copies = append(copies, r)
		}
		r.Provenance = nil
		local[i] = r
	}
	_ = s.Store.Put(ctx, copies...) // after an error, far still has them
}

func (s *shared) Has(ctx context.Context, k key.Key) (bool, error) {
	ok, err := s.Store.Has(ctx, k)
	if ok || err != nil {
		return ok, err
	}
	ok, _ = s.far.Has(ctx, k)
	return ok, nil
}

func (s *shared) Put(ctx context.Context, all ...store.Record) error {
	all = stamped(all)
	err := s.Store.Put(ctx, all...)
	others := make([]store.Record, 0, len(all))
	for _, r := range all {
		if r.Type != records.FileDigest {
			others = append(others, r)
		}
	}
	if len(others) > 0 {
		s.behind.put(ctx, others)
		if err != nil { // only far will have them
			s.behind.flush()
		}
		s.missed.forget(others)
	}
	return err
}

func (s *shared) Delete(ctx context.Context, keys ...key.Key) error {
	s.behind.flush()
	return errors.Join(s.Store.Delete(ctx, keys...), s.far.Delete(ctx, keys...))
}

func (s *shared) Lease(ctx context.Context, k key.Key) (release func(), err error) {
	leased, release, err := s.TryLease(ctx, []key.Key{k})
	if err != nil || leased[0] {
		return release, err
	}
	release()
	defer pool.Blocking(ctx, 0)() // others compute the result
	return s.leases().Lease(ctx, k)
}

func (s *shared) TryLease(ctx context.Context, keys []key.Key) (leased []bool, release func(), err error) {
	defer pool.RoundTrip(ctx, 0)()
	return s.leases().TryLease(ctx, keys)
}

// leases combines the leases of both stores. Those of far end when the results are there.
func (s *shared) leases() store.Leases { return &Store{s.Store, lateLeases{s.far, s.behind}} }

// lateLeases is a store whose leases end after the records put before are stored.
type lateLeases struct {
	store.Store
	behind *behind
}

func (l lateLeases) Lease(ctx context.Context, k key.Key) (release func(), err error) {
	l.behind.wait(k)
	end, err := l.Store.Lease(ctx, k)
	return func() { l.behind.then([]key.Key{k}, end) }, err
}

func (l lateLeases) TryLease(ctx context.Context, keys []key.Key) (leased []bool, release func(), err error) {
	l.behind.wait(keys...)
	leased, end, err := l.Store.TryLease(ctx, keys)
	return leased, func() { l.behind.then(keys, end) }, err
}

func (s *shared) Close() error {
	s.behind.close()
	return errors.Join(s.far.Close(), s.Store.Close())
}
