package tier_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk"
	"github.com/larder-data/larder/store/memory"
	"github.com/larder-data/larder/store/storetest"
	"github.com/larder-data/larder/store/tier"
)

func openDisk(tb testing.TB, o disk.Options) *disk.Store {
	tb.Helper()
	s, err := disk.Open(o)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// TestConformance checks that a tier works with any local store, however few records stay in it.
func TestConformance(t *testing.T) {
	for name, near := range map[string]func(testing.TB) store.Store{
		"memory":        func(testing.TB) store.Store { return memory.New(memory.Options{}) },
		"little memory": func(testing.TB) store.Store { return memory.New(memory.Options{MaxBytes: 5000}) },
		"disk":          func(tb testing.TB) store.Store { return openDisk(tb, disk.Options{Dir: tb.TempDir()}) },
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(tb testing.TB) func() store.Store {
				dir := tb.TempDir()
				return func() store.Store { return tier.New(near(tb), openDisk(tb, disk.Options{Dir: dir, MaxBytes: -1})) }
			})
		})
	}
}

func keys(is ...int) (all []key.Key) {
	for _, i := range is {
		all = append(all, storetest.Key(i))
	}
	return all
}

func get(t *testing.T, s store.Records, i int) store.Record {
	t.Helper()
	r, err := s.Get(t.Context(), storetest.Key(i))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func put(t *testing.T, s store.Records, i int) {
	t.Helper()
	r := store.Record{Key: storetest.Key(i), Payload: []byte(fmt.Sprint(i)), Provenance: []byte("origin")}
	if err := s.Put(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

// TestReadThrough checks that a remote record is copied to the local store with all its metadata.
func TestReadThrough(t *testing.T) {
	near, far := memory.New(memory.Options{}), memory.New(memory.Options{})
	s := tier.New(near, far)
	for i := range 3 {
		put(t, far, i)
	}
	get(t, s, 0)
	records, err := s.GetMany(t.Context(), keys(0, 1, 9, 2))
	if err != nil || string(records[1].Payload) != "1" || string(records[3].Payload) != "2" || !records[2].Key.IsZero() {
		t.Fatalf("%v, %v", records, err)
	}
	for i := range 3 {
		if r := get(t, near, i); string(r.Payload) != fmt.Sprint(i) {
			t.Errorf("near has %q for %d", r.Payload, i)
		}
		if p, err := near.Provenance(t.Context(), storetest.Key(i)); err != nil || string(p) != "origin" {
			t.Errorf("near says that %d came from %q, %v", i, p, err)
		}
	}
	if err := far.Delete(t.Context(), keys(0, 1, 2)...); err != nil {
		t.Fatal(err)
	}
	get(t, s, 2)
}

// TestWriteThrough checks that a record is put into both stores, and so exists without the local one.
func TestWriteThrough(t *testing.T) {
	near, far := memory.New(memory.Options{MaxBytes: 400}), memory.New(memory.Options{})
	s := tier.New(near, far)
	put(t, s, 1)
	get(t, near, 1)
	get(t, far, 1)
	big := store.Record{Key: storetest.Key(2), Payload: make([]byte, 1000)}
	if err := s.Put(t.Context(), big); err != nil {
		t.Errorf("what is too large to be near: %v", err)
	}
	get(t, s, 2)
}

// TestFarIsReadOnly checks that a read-only remote store is read, and new records stay local.
func TestFarIsReadOnly(t *testing.T) {
	dir := t.TempDir()
	whole := openDisk(t, disk.Options{Dir: dir})
	put(t, whole, 1)
	if err := whole.Close(); err != nil {
		t.Fatal(err)
	}
	far := openDisk(t, disk.Options{Dir: dir, ReadOnly: true})
	s := tier.New(memory.New(memory.Options{}), far)
	defer s.Close()
	get(t, s, 1)
	put(t, s, 2)
	get(t, s, 2)
	if err := s.PutManifest(t.Context(), store.Manifest{Name: "m", Pinned: true, Keys: keys(2)}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Collect(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	get(t, s, 2)
	if err := s.Delete(t.Context(), storetest.Key(1)); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("Delete of what stays: %v, want ErrReadOnly", err)
	}
	if _, err := far.Get(t.Context(), storetest.Key(2)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a store that is read-only was written to: %v", err)
	}
}
