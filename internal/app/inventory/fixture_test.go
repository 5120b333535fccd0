package inventory_test

import (
	"testing"
	"time"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/internal/app/inventory"
	"github.com/larder-data/larder/internal/app/records"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk"
	"github.com/larder-data/larder/store/memory"
)

// onStores runs a test on a store in memory and on one on disk.
func onStores(t *testing.T, test func(*testing.T, store.Store)) {
	t.Run("memory", func(t *testing.T) { test(t, memory.New(memory.Options{})) })
	t.Run("disk", func(t *testing.T) { test(t, openDisk(t, t.TempDir())) })
}

func openDisk(t testing.TB, dir string) store.Store {
	t.Helper()
	s, err := disk.Open(disk.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// action returns the named operation with one parameter.
func action(t testing.TB, name string, n int) *key.Action {
	t.Helper()
	op, err := key.NewOp(name, key.Version("1"), key.Param{Name: "n", Value: n})
	if err != nil {
		t.Fatal(err)
	}
	return op.Action()
}

// record returns the record that stores v as the result of an action.
func record[T any](t testing.TB, name string, n int, v T) store.Record {
	t.Helper()
	a := action(t, name, n)
	value, err := codec.For[T]()
	if err != nil {
		t.Fatal(err)
	}
	payload, err := value.Encode(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	return store.Record{Key: a.Key(), Type: value.Type, Payload: payload, Cost: time.Second, Provenance: a.MarshalProvenance()}
}

// link returns a record of the operation that leads to another.
func link(t testing.TB, name string, n int, to key.Key) store.Record {
	t.Helper()
	r := record(t, name, n, "")
	r.Link, r.Payload, r.Cost = to, nil, 0
	return r
}

func put(t testing.TB, s store.Store, records ...store.Record) {
	t.Helper()
	for _, r := range records {
		if err := s.Put(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
}

// filled stores three values of "add", a link of it to the first, one value of "mul", the
// digest of a file, and a value without provenance. The first value and the link are
// pinned.
func filled(t testing.TB, s store.Store) (first, linked store.Record) {
	t.Helper()
	first = record(t, "add", 0, "zero")
	linked = link(t, "add", 100, first.Key)
	put(t, s, first, record(t, "add", 1, "one"), record(t, "add", 2, "two"), linked, record(t, "mul", 0, 3.5))
	file := record(t, "file", 0, "")
	file.Type, file.Provenance, file.Cost = records.FileDigest, nil, 0
	d := key.DigestOf([]byte("content"))
	file.Payload = d[:]
	plain := record(t, "plain", 0, "unexplained")
	plain.Provenance = nil
	put(t, s, file, plain)
	pin(t, s, "/flows/letters#stats", linked.Key, key.Key{})
	return first, linked
}

func pin(t testing.TB, s store.Store, name string, keys ...key.Key) {
	t.Helper()
	if err := s.PutManifest(t.Context(), store.Manifest{Name: name, Pinned: true, Keys: keys}); err != nil {
		t.Fatal(err)
	}
}

// all returns the records of a store, by key.
func all(t testing.TB, s store.Store) map[key.Key]inventory.Record {
	t.Helper()
	found := map[key.Key]inventory.Record{}
	for r, err := range inventory.Records(t.Context(), s, inventory.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		found[r.Key] = r
	}
	return found
}
