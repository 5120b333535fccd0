package larder

import (
	"context"
	"iter"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// salted is a store within a store: every key is changed by a salt, so nothing
// that was kept under another salt is found. It disowns results of a bad run
// without touching anybody else's.
type salted struct {
	store.Store
	mask [key.Size]byte
	name string // in front of the names of manifests
}

// withSalt returns s as it is seen under a salt.
func withSalt(s store.Store, salt string) store.Store {
	if salt == "" {
		return s
	}
	d := key.DigestOf([]byte("larder salt\x00" + salt))
	m := salted{Store: s, mask: d, name: "salt " + salt + ": "}
	m.mask[0] = 0 // the first byte says that it is a key
	return m
}

// turn changes a key to the one that the store below knows, and back.
func (s salted) turn(k key.Key) key.Key {
	if k.IsZero() {
		return k
	}
	for i := range k {
		k[i] ^= s.mask[i]
	}
	return k
}

func (s salted) turnAll(keys []key.Key) []key.Key {
	turned := make([]key.Key, len(keys))
	for i, k := range keys {
		turned[i] = s.turn(k)
	}
	return turned
}

func (s salted) record(r store.Record, err error) (store.Record, error) {
	r.Key, r.Link = s.turn(r.Key), s.turn(r.Link)
	return r, err
}

func (s salted) Get(ctx context.Context, k key.Key) (store.Record, error) {
	return s.record(s.Store.Get(ctx, s.turn(k)))
}

func (s salted) Peek(ctx context.Context, k key.Key) (store.Record, error) {
	return s.record(s.Store.Peek(ctx, s.turn(k)))
}

func (s salted) Has(ctx context.Context, k key.Key) (bool, error) {
	return s.Store.Has(ctx, s.turn(k))
}

func (s salted) Provenance(ctx context.Context, k key.Key) ([]byte, error) {
	return s.Store.Provenance(ctx, s.turn(k))
}

func (s salted) Put(ctx context.Context, r store.Record) error {
	r, _ = s.record(r, nil)
	return s.Store.Put(ctx, r)
}

func (s salted) Delete(ctx context.Context, keys ...key.Key) error {
	return s.Store.Delete(ctx, s.turnAll(keys)...)
}

func (s salted) Records(ctx context.Context) iter.Seq2[store.Info, error] {
	return func(yield func(store.Info, error) bool) {
		for i, err := range s.Store.Records(ctx) {
			i.Key, i.Link = s.turn(i.Key), s.turn(i.Link)
			if !yield(i, err) {
				return
			}
		}
	}
}

func (s salted) Lease(ctx context.Context, k key.Key) (release func(), err error) {
	return s.Store.Lease(ctx, s.turn(k))
}

func (s salted) PutManifest(ctx context.Context, m store.Manifest) error {
	m.Name, m.Keys = s.name+m.Name, s.turnAll(m.Keys)
	return s.Store.PutManifest(ctx, m)
}

func (s salted) Manifest(ctx context.Context, name string) (store.Manifest, error) {
	m, err := s.Store.Manifest(ctx, s.name+name)
	m.Name, m.Keys = name, s.turnAll(m.Keys)
	return m, err
}

func (s salted) DeleteManifest(ctx context.Context, name string) error {
	return s.Store.DeleteManifest(ctx, s.name+name)
}
