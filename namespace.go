package larder

import (
	"context"
	"iter"
	"strings"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// namespace is a view of a store under one salt, or under none. It shows only the records
// and manifests of that salt. So a user can abandon the results of a bad run without
// touching those of others. The bound on bytes is shared.
type namespace struct {
	store.Store
	keys key.Space
	name string // prefix of the names of manifests
}

// manifestSalt begins the names of manifests of a salt; a zero byte ends the salt.
const manifestSalt = "salt\x00"

// withSalt returns the view of s under a salt.
func withSalt(s store.Store, salt string) store.Store {
	in := &namespace{Store: s, keys: key.SpaceOf(salt)}
	if salt != "" {
		in.name = manifestSalt + salt + "\x00"
	}
	return in
}

// KeyOf returns the key that the underlying store uses and lists for k.
func (s *namespace) KeyOf(k key.Key) key.Key { return s.keys.Key(k) }

func (s *namespace) all(keys []key.Key) []key.Key {
	in := make([]key.Key, len(keys))
	for i, k := range keys {
		in[i] = s.keys.Key(k)
	}
	return in
}

func (s *namespace) Get(ctx context.Context, k key.Key) (r store.Record, err error) {
	r, err = s.Store.Get(ctx, s.keys.Key(k))
	r.Key = k // as requested
	return r, err
}

func (s *namespace) GetWithoutRefresh(ctx context.Context, k key.Key) (r store.Record, err error) {
	r, err = s.Store.GetWithoutRefresh(ctx, s.keys.Key(k))
	r.Key = k // as requested
	return r, err
}

func (s *namespace) GetMany(ctx context.Context, keys []key.Key) ([]store.Record, error) {
	records, err := s.Store.GetMany(ctx, s.all(keys))
	for i := range records {
		if !records[i].Key.IsZero() {
			records[i].Key = keys[i]
		}
	}
	return records, err
}

func (s *namespace) Has(ctx context.Context, k key.Key) (bool, error) {
	return s.Store.Has(ctx, s.keys.Key(k))
}

func (s *namespace) Provenance(ctx context.Context, k key.Key) ([]byte, error) {
	return s.Store.Provenance(ctx, s.keys.Key(k))
}

func (s *namespace) Put(ctx context.Context, records ...store.Record) error {
	in := make([]store.Record, len(records))
	for i, r := range records {
		r.Key, r.Link = s.keys.Key(r.Key), s.keys.Key(r.Link)
		in[i] = r
	}
	return s.Store.Put(ctx, in...)
}

func (s *namespace) Delete(ctx context.Context, keys ...key.Key) error {
	mine := make([]key.Key, 0, len(keys))
	for _, k := range s.all(keys) {
		if s.keys.Has(k) {
			mine = append(mine, k)
		}
	}
	return s.Store.Delete(ctx, mine...)
}

func (s *namespace) Records(ctx context.Context) iter.Seq2[store.Info, error] {
	return func(yield func(store.Info, error) bool) {
		for i, err := range s.Store.Records(ctx) {
			if err == nil && !s.keys.Has(i.Key) {
				continue
			}
			if !yield(i, err) {
				return
			}
		}
	}
}

func (s *namespace) Lease(ctx context.Context, k key.Key) (release func(), err error) {
	return s.Store.Lease(ctx, s.keys.Key(k))
}

func (s *namespace) TryLease(ctx context.Context, keys []key.Key) (leased []bool, release func(), err error) {
	return s.Store.TryLease(ctx, s.all(keys))
}

func (s *namespace) PutManifest(ctx context.Context, m store.Manifest) error {
	m.Name, m.Keys = s.name+m.Name, s.all(m.Keys)
	return s.Store.PutManifest(ctx, m)
}

func (s *namespace) Manifest(ctx context.Context, name string) (store.Manifest, error) {
	m, err := s.Store.Manifest(ctx, s.name+name)
	m.Name = name
	return m, err
}

func (s *namespace) Manifests(ctx context.Context) iter.Seq2[store.Manifest, error] {
	return func(yield func(store.Manifest, error) bool) {
		for m, err := range s.Store.Manifests(ctx) {
			name, mine := strings.CutPrefix(m.Name, s.name)
			if s.name == "" {
				mine = !strings.HasPrefix(m.Name, manifestSalt)
			}
			if err == nil && !mine {
				continue
			}
			m.Name = name
			if !yield(m, err) {
				return
			}
		}
	}
}

func (s *namespace) DeleteManifest(ctx context.Context, name string) error {
	return s.Store.DeleteManifest(ctx, s.name+name)
}
