package tier_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/larder-data/larder/internal/app/records"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk"
	"github.com/larder-data/larder/store/memory"
	"github.com/larder-data/larder/store/storetest"
	"github.com/larder-data/larder/store/tier"
)

// broken is a store that cannot be reached.
type broken struct{ store.Store }

var errBroken = errors.New("it cannot be reached")

func (broken) GetMany(context.Context, []key.Key) ([]store.Record, error) { return nil, errBroken }
func (broken) Has(context.Context, key.Key) (bool, error)                 { return false, errBroken }
func (broken) Put(context.Context, ...store.Record) error                 { return errBroken }
func (broken) Delete(context.Context, ...key.Key) error                   { return nil }

// TestShareConformance checks that the local store works whatever happens to the shared one.
func TestShareConformance(t *testing.T) {
	storetest.Records(t, func(tb testing.TB) store.Records {
		return tier.Share(openDisk(tb, disk.Options{Dir: tb.TempDir()}), memory.New(memory.Options{MaxBytes: 5000}))
	})
	for name, far := range map[string]store.Store{
		"little":  memory.New(memory.Options{MaxBytes: 5000}),
		"broken":  broken{memory.New(memory.Options{})},
		"nothing": memory.New(memory.Options{MaxBytes: 1}),
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Manifests(t, func(tb testing.TB) store.Manifests {
				return tier.Share(openDisk(tb, disk.Options{Dir: tb.TempDir()}), far)
			})
			storetest.Leases(t, func(tb testing.TB) store.Leases {
				return tier.Share(openDisk(tb, disk.Options{Dir: tb.TempDir()}), far)
			})
		})
	}
}

// TestShare checks that a shared result is found remotely once, and is then local with all its metadata. Listing,
// counting and eviction apply to the local store.
func TestShare(t *testing.T) {
	near, far := memory.New(memory.Options{}), memory.New(memory.Options{})
	s := tier.Share(near, far)
	put(t, far, 1)
	put(t, far, 2)
	get(t, s, 1)
	if records, err := s.GetMany(t.Context(), keys(1, 2, 3)); err != nil || records[1].Key.IsZero() || records[1].Provenance != nil || !records[2].Key.IsZero() {
		t.Errorf("%v, %v", records, err)
	}
	for i := 1; i < 3; i++ {
		get(t, near, i)
		if p, err := near.Provenance(t.Context(), storetest.Key(i)); err != nil || string(p) != "origin" {
			t.Errorf("provenance %q, %v", p, err)
		}
	}
	put(t, s, 4)
	flush(t, s)
	get(t, far, 4)
	if err := s.PutManifest(t.Context(), store.Manifest{Name: "m", Pinned: true, Keys: keys(4)}); err != nil {
		t.Fatal(err)
	}
	if _, err := far.Manifest(t.Context(), "m"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a manifest is shared: %v", err)
	}
	if _, err := s.Collect(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if u, err := s.Usage(t.Context()); err != nil || u.Records != 1 {
		t.Errorf("%+v, %v, want the pinned record", u, err)
	}
	get(t, far, 2)
	if err := s.Delete(t.Context(), keys(4)...); err != nil {
		t.Fatal(err)
	}
	if ok, err := s.Has(t.Context(), storetest.Key(4)); ok || err != nil {
		t.Errorf("what was deleted is there: %v, %v", ok, err)
	}
}

// TestSharedNotes checks that records about this machine's files stay local, and that the later version of a changing
// record counts.
func TestSharedNotes(t *testing.T) {
	near, far := memory.New(memory.Options{}), memory.New(memory.Options{})
	s := tier.Share(near, far)
	record := func(i int, kind uint64, text string, at int64) store.Record {
		return store.Record{Key: storetest.Key(i), Type: kind, Payload: []byte(text), Created: time.Unix(at, 0)}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.Put(t.Context(), record(1, records.FileDigest, "digest", 1)))
	flush(t, s)
	if ok, _ := far.Has(t.Context(), storetest.Key(1)); ok {
		t.Error("the digest of a file is shared")
	}
	must(far.Put(t.Context(), record(2, records.FileDigest, "digest", 1)))
	if _, err := s.Get(t.Context(), storetest.Key(2)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the digest of another machine's file: %v", err)
	}
	must(s.Put(t.Context(), record(3, records.Recorded, "before", 1)))
	flush(t, s)
	must(far.Put(t.Context(), record(3, records.Recorded, "later", 2)))
	if r, err := s.GetWithoutRefresh(t.Context(), storetest.Key(3)); err != nil || string(r.Payload) != "before" {
		t.Errorf("GetWithoutRefresh asks far for what is near: %q, %v", r.Payload, err)
	}
	if r, err := s.GetMany(t.Context(), keys(3)); err != nil || string(r[0].Payload) != "later" {
		t.Errorf("a note that has changed: %v, %v", r, err)
	}
	if r := get(t, near, 3); string(r.Payload) != "later" {
		t.Errorf("near is %q", r.Payload)
	}
	must(near.Put(t.Context(), record(3, records.Recorded, "latest", 3)))
	if r := get(t, s, 3); string(r.Payload) != "latest" {
		t.Errorf("what is newer near is %q", r.Payload)
	}
	must(far.Put(t.Context(), record(4, records.Waiting, "waits", 1)))
	if r := get(t, s, 4); string(r.Payload) != "waits" {
		t.Errorf("a note of another machine is %q", r.Payload)
	}
	if ok, _ := near.Has(t.Context(), storetest.Key(4)); ok {
		t.Error("a wait elsewhere is noted here, too, where no process removes it")
	}
}

// flush waits for the records that were put: deletions follow them.
func flush(t *testing.T, s store.Store) {
	t.Helper()
	if err := s.Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// counting counts the lookups of keys.
type counting struct {
	store.Store
	looks int
}

func (c *counting) GetMany(ctx context.Context, keys []key.Key) ([]store.Record, error) {
	c.looks += len(keys)
	return c.Store.GetMany(ctx, keys)
}

// TestLooksFar checks that Get looks again for a key that was recently missing remotely. GetWithoutRefresh does not, and finds
// what was put here.
func TestLooksFar(t *testing.T) {
	near, far := memory.New(memory.Options{MaxBytes: 1}), &counting{Store: memory.New(memory.Options{})}
	s := tier.Share(near, far)
	missing := func(get func(context.Context, key.Key) (store.Record, error), looks int) {
		t.Helper()
		if _, err := get(t.Context(), storetest.Key(1)); !errors.Is(err, store.ErrNotFound) || far.looks != looks {
			t.Errorf("%v and %d looks, want %d", err, far.looks, looks)
		}
	}
	missing(s.GetWithoutRefresh, 1)
	missing(s.GetWithoutRefresh, 1)
	missing(s.Get, 2)
	put(t, far, 1)
	missing(s.GetWithoutRefresh, 2)
	get(t, s, 1)
	if _, err := s.GetWithoutRefresh(t.Context(), storetest.Key(1)); err != nil {
		t.Errorf("what was found far before: %v", err)
	}
	if _, err := s.GetWithoutRefresh(t.Context(), storetest.Key(2)); err == nil {
		t.Error("it is there before it is put")
	}
	_ = s.Put(t.Context(), store.Record{Key: storetest.Key(2), Payload: []byte("x")}) // the local store is full
	if _, err := s.GetWithoutRefresh(t.Context(), storetest.Key(2)); err != nil {
		t.Errorf("what was put here: %v", err)
	}
}
