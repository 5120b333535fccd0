// Package storetest provides tests and benchmarks that every store passes.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// A Medium makes an empty medium and returns a function that opens a store on it. That
// function is called again only after the previous store was closed; its records must still
// be there.
type Medium func(tb testing.TB) (open func() store.Store)

// Key returns a key computed from i: equal for equal i.
func Key(i int) key.Key {
	return key.Key(key.DigestOf(fmt.Append(nil, "storetest key ", i)))
}

// Payload returns n bytes that depend on seed and do not compress.
func Payload(seed uint64, n int) []byte {
	b := make([]byte, n)
	random := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24)})
	_, _ = random.Read(b) // never fails
	return b
}

// Run checks that stores on medium implement what package store promises: each interface,
// and how they work together.
func Run(t *testing.T, medium Medium) {
	Records(t, func(tb testing.TB) store.Records { return opened(tb, medium) })
	Leases(t, func(tb testing.TB) store.Leases { return opened(tb, medium) })
	Manifests(t, func(tb testing.TB) store.Manifests { return opened(tb, medium) })
	each(t, func(tb testing.TB) store.Store { return opened(tb, medium) }, []test[store.Store]{
		{"HeldPayloadsStay", testHeld},
		{"PinnedAreListed", testListedPins},
		{"Collect", testCollect},
		{"PinnedStay", testPinned},
		{"CheapGoFirst", testCheapFirst},
	})
	t.Run("Model", func(t *testing.T) { testModel(t, medium) })
}

// Records checks a store.Records. open returns an empty one and closes it at the end of the
// test.
func Records(t *testing.T, open func(testing.TB) store.Records) {
	each(t, open, []test[store.Records]{
		{"RoundTrip", testRoundTrip},
		{"NotFound", testNotFound},
		{"Replace", testReplace},
		{"Link", testLink},
		{"Refuse", testRefuse},
		{"Delete", testDelete},
		{"Many", testMany},
		{"SlicesStayTheCallers", testSlices},
		{"Concurrent", testConcurrent},
		{"Records", testRecords},
		{"Changes", testChanges},
	})
}

// Leases checks a store.Leases.
func Leases(t *testing.T, open func(testing.TB) store.Leases) {
	each(t, open, []test[store.Leases]{{"LeaseExcludes", testLease}, {"LeaseCancel", testLeaseCancel}, {"TryLease", testTryLease}})
}

// Manifests checks a store.Manifests.
func Manifests(t *testing.T, open func(testing.TB) store.Manifests) {
	each(t, open, []test[store.Manifests]{{"Manifests", testManifests}})
}

type test[S any] struct {
	name string
	run  func(*testing.T, S)
}

func each[S any](t *testing.T, open func(testing.TB) S, tests []test[S]) {
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, open(t)) })
	}
}

func opened(tb testing.TB, medium Medium) store.Store {
	s := medium(tb)()
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("Close: %v", err)
		}
	})
	return s
}

func put(tb testing.TB, s store.Records, r store.Record) {
	tb.Helper()
	if err := s.Put(context.Background(), r); err != nil {
		tb.Fatalf("Put(%s): %v", r.Key, err)
	}
}

func get(tb testing.TB, s store.Records, k key.Key) store.Record {
	tb.Helper()
	r, err := s.Get(context.Background(), k)
	if err != nil {
		tb.Fatalf("Get(%s): %v", k, err)
	}
	return r
}

func wantMissing(tb testing.TB, s store.Records, k key.Key) {
	tb.Helper()
	if _, err := s.Get(context.Background(), k); !errors.Is(err, store.ErrNotFound) {
		tb.Errorf("Get(%s) = %v, want ErrNotFound", k, err)
	}
	if ok, err := s.Has(context.Background(), k); ok || err != nil {
		tb.Errorf("Has(%s) = %v, %v, want false", k, ok, err)
	}
}

func testRoundTrip(t *testing.T, s store.Records) {
	created := time.Date(2031, 5, 6, 7, 8, 9, 123456789, time.UTC)
	for i, size := range []int{0, 1, 7, 8, 9, 4096, 100_000, 1 << 20, 5<<20 + 3} {
		want := store.Record{
			Key: Key(i), Type: 1<<63 + uint64(i), Payload: Payload(uint64(i), size),
			Cost: time.Hour + time.Duration(i), Created: created, Provenance: Payload(99, i*i),
		}
		put(t, s, want)
		got := get(t, s, want.Key)
		if !bytes.Equal(got.Payload, want.Payload) {
			t.Errorf("size %d: payload came back differently", size)
		}
		if got.Key != want.Key || got.Type != want.Type || got.Cost != want.Cost || !got.Created.Equal(created) || !got.Link.IsZero() {
			t.Errorf("size %d: got %+v", size, got)
		}
		if got.Provenance != nil {
			t.Errorf("size %d: Get read the provenance", size)
		}
		provenance, err := s.Provenance(t.Context(), want.Key)
		if err != nil || !bytes.Equal(provenance, want.Provenance) {
			t.Errorf("size %d: Provenance = %d bytes, %v", size, len(provenance), err)
		}
		if ok, err := s.Has(t.Context(), want.Key); !ok || err != nil {
			t.Errorf("size %d: Has = %v, %v", size, ok, err)
		}
	}
	before := time.Now()
	put(t, s, store.Record{Key: Key(1000)})
	if c := get(t, s, Key(1000)).Created; c.Before(before.Add(-time.Second)) || c.After(time.Now().Add(time.Second)) {
		t.Errorf("Created = %v, want now", c)
	}
}

func testNotFound(t *testing.T, s store.Records) {
	wantMissing(t, s, Key(1))
	wantMissing(t, s, key.Key{})
	if _, err := s.Provenance(t.Context(), Key(1)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Provenance: %v, want ErrNotFound", err)
	}
}

func testReplace(t *testing.T, s store.Records) {
	for i, size := range []int{10, 1 << 20, 3, 0, 1<<20 + 1} {
		// Created goes backwards: the order of the Puts decides.
		want := store.Record{Key: Key(1), Payload: Payload(uint64(i), size), Created: time.Unix(int64(1000-i), 0)}
		put(t, s, want)
		if got := get(t, s, Key(1)); !bytes.Equal(got.Payload, want.Payload) {
			t.Errorf("Put %d did not replace", i)
		}
	}
	if n := len(listed(t, s)); n != 1 {
		t.Errorf("%d records are listed, want 1", n)
	}
}

func testLink(t *testing.T, s store.Records) {
	put(t, s, store.Record{Key: Key(1), Link: Key(2), Provenance: []byte("by way of")})
	got := get(t, s, Key(1))
	if got.Link != Key(2) || len(got.Payload) != 0 {
		t.Errorf("got link %s and %d bytes", got.Link, len(got.Payload))
	}
	wantMissing(t, s, Key(2))
}

func testRefuse(t *testing.T, s store.Records) {
	for _, r := range []store.Record{
		{Payload: []byte("no key")},
		{Key: Key(1), Link: Key(1)},
		{Key: Key(1), Link: Key(2), Payload: []byte("both")},
	} {
		if err := s.Put(t.Context(), r); err == nil {
			t.Errorf("Put(%+v) was not refused", r)
		}
	}
	wantMissing(t, s, Key(1))
}

func testDelete(t *testing.T, s store.Records) {
	for i := range 4 {
		put(t, s, store.Record{Key: Key(i), Payload: Payload(uint64(i), 100+i<<19)})
	}
	if err := s.Delete(t.Context(), Key(0), Key(3), Key(77)); err != nil {
		t.Fatal(err)
	}
	wantMissing(t, s, Key(0))
	wantMissing(t, s, Key(3))
	get(t, s, Key(1))
	put(t, s, store.Record{Key: Key(0), Payload: []byte("again")})
	if got := get(t, s, Key(0)); string(got.Payload) != "again" {
		t.Errorf("after Delete and Put: %q", got.Payload)
	}
}

// testChanges checks that a new record is a change, and a lookup is not.
func testChanges(t *testing.T, s store.Records) {
	c, ok := s.(store.ChangeCounter)
	if !ok {
		t.Skipf("%T does not tell what is new", s)
	}
	seen := []uint64{c.Changes(true)}
	for i, records := range [][]store.Record{
		{{Key: Key(1), Payload: Payload(1, 10)}},
		{{Key: Key(1), Payload: Payload(2, 10)}},
		{{Key: Key(2), Link: Key(1)}, {Key: Key(3), Payload: Payload(3, 1<<20)}},
	} {
		if err := s.Put(t.Context(), records...); err != nil {
			t.Fatal(err)
		}
		now := c.Changes(false)
		if slices.Contains(seen, now) {
			t.Errorf("Put %d: %d is the number of before: %d", i, now, seen)
		}
		wantMissing(t, s, Key(100))
		if again := c.Changes(true); again != now {
			t.Errorf("after Put %d nothing was put, and %d became %d", i, now, again)
		}
		seen = append(seen, now)
	}
}

func testSlices(t *testing.T, s store.Records) {
	for i, size := range []int{20, 1 << 20} {
		payload, provenance := Payload(1, size), []byte("origin")
		put(t, s, store.Record{Key: Key(i), Payload: payload, Provenance: provenance})
		clear(payload)
		clear(provenance)
		first := get(t, s, Key(i)).Payload
		if !bytes.Equal(first, Payload(1, size)) {
			t.Errorf("size %d: the store retained the caller's payload", size)
		}
		if p, err := s.Provenance(t.Context(), Key(i)); err != nil || string(p) != "origin" {
			t.Errorf("size %d: provenance %q, %v", size, p, err)
		}
	}
}

// testHeld checks that a returned payload outlives its record.
func testHeld(t *testing.T, s store.Store) {
	for i, size := range []int{20, 1 << 20} {
		put(t, s, store.Record{Key: Key(i), Payload: Payload(1, size)})
		first := get(t, s, Key(i)).Payload
		if err := s.Delete(t.Context(), Key(i)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Collect(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, Payload(1, size)) {
			t.Errorf("size %d: a payload changed after Delete", size)
		}
	}
}

// testMany checks that GetMany finds what Get finds, whichever user put the records, and
// wherever.
func testMany(t *testing.T, s store.Records) {
	var all []store.Record
	for i := range 300 {
		r := store.Record{Key: Key(i), Type: uint64(i), Payload: Payload(uint64(i), i*i%3001), Cost: time.Duration(i)}
		switch i % 50 {
		case 7:
			r.Payload = Payload(uint64(i), 700_000)
		case 8:
			r.Payload, r.Link = nil, Key(i-1)
		}
		all = append(all, r)
	}
	if err := s.Put(t.Context(), all[:200]...); err != nil {
		t.Fatal(err)
	}
	if err := s.Put(t.Context(), all[200:]...); err != nil {
		t.Fatal(err)
	}
	if err := s.Put(t.Context()); err != nil {
		t.Errorf("Put of nothing: %v", err)
	}
	if err := s.Delete(t.Context(), Key(3), Key(299)); err != nil {
		t.Fatal(err)
	}
	keys := []key.Key{{}, Key(1000)}
	for i := range 300 {
		keys = append(keys, Key((i*7)%300))
	}
	keys = append(keys, Key(5), Key(5))
	records, err := s.GetMany(t.Context(), keys)
	if err != nil || len(records) != len(keys) {
		t.Fatalf("%d records for %d keys, %v", len(records), len(keys), err)
	}
	for i, k := range keys {
		got := records[i]
		want, err := s.Get(t.Context(), k)
		if errors.Is(err, store.ErrNotFound) {
			want = store.Record{}
		} else if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Payload, want.Payload) || !got.Created.Equal(want.Created) || got.Key != want.Key ||
			got.Link != want.Link || got.Type != want.Type || got.Cost != want.Cost || got.Provenance != nil {
			t.Errorf("key %d: GetMany returns %d bytes of type %d, Get %d of %d", i, len(got.Payload), got.Type, len(want.Payload), want.Type)
		}
	}
	if records, err := s.GetMany(t.Context(), nil); err != nil || len(records) != 0 {
		t.Errorf("GetMany of nothing: %d records, %v", len(records), err)
	}
	twice := []store.Record{{Key: Key(300), Payload: []byte("earlier")}, {Key: Key(301)}, {Key: Key(300), Payload: []byte("later")}}
	if err := s.Put(t.Context(), twice...); err != nil {
		t.Fatal(err)
	}
	if got := get(t, s, Key(300)); string(got.Payload) != "later" {
		t.Errorf("of two records of one key in one Put, %q counts", got.Payload)
	}
	bad := []store.Record{{Key: Key(400), Payload: []byte("good")}, {Payload: []byte("no key")}}
	if err := s.Put(t.Context(), bad...); err == nil {
		t.Error("a record without a key was not refused among others")
	}
}

// listed returns what a store lists.
func listed(t *testing.T, s store.Records) map[key.Key]store.Info {
	t.Helper()
	got := make(map[key.Key]store.Info)
	for info, err := range s.Records(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := got[info.Key]; twice {
			t.Errorf("%s was yielded twice", info.Key)
		}
		got[info.Key] = info
	}
	return got
}

// testListedPins checks that records of pinned manifests, and those they link to, are
// listed as pinned.
func testListedPins(t *testing.T, s store.Store) {
	for i := range 3 {
		put(t, s, store.Record{Key: Key(i), Payload: Payload(1, 10)})
	}
	put(t, s, store.Record{Key: Key(3), Link: Key(1)})
	if err := s.PutManifest(t.Context(), store.Manifest{Name: "m", Pinned: true, Keys: []key.Key{Key(3)}}); err != nil {
		t.Fatal(err)
	}
	got := listed(t, s)
	for i, want := range []bool{false, true, false, true} {
		if got[Key(i)].Pinned != want {
			t.Errorf("record %d: pinned %v, want %v", i, got[Key(i)].Pinned, want)
		}
	}
	if u, err := s.Usage(t.Context()); err != nil || u.Records != 4 {
		t.Errorf("Usage = %+v, %v, want 4 records", u, err)
	}
}

func testConcurrent(t *testing.T, s store.Records) {
	const writers, each = 8, 50
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				n := w*each + i
				r := store.Record{Key: Key(n), Payload: Payload(uint64(n), n%700)}
				if err := s.Put(t.Context(), r); err != nil {
					t.Errorf("Put: %v", err)
				}
				// Another writer's record is complete or not there yet.
				other := (n * 7) % (writers * each)
				got, err := s.Get(t.Context(), Key(other))
				if err != nil && !errors.Is(err, store.ErrNotFound) {
					t.Errorf("Get: %v", err)
				}
				if err == nil && !bytes.Equal(got.Payload, Payload(uint64(other), other%700)) {
					t.Errorf("record %d is wrong", other)
				}
			}
		})
	}
	wg.Wait()
	for n := range writers * each {
		if got := get(t, s, Key(n)); !bytes.Equal(got.Payload, Payload(uint64(n), n%700)) {
			t.Errorf("record %d is wrong", n)
		}
	}
}

func testRecords(t *testing.T, s store.Records) {
	put(t, s, store.Record{Key: Key(1), Payload: Payload(1, 10), Type: 5, Cost: time.Second})
	put(t, s, store.Record{Key: Key(2), Payload: Payload(2, 1<<20)})
	put(t, s, store.Record{Key: Key(3), Link: Key(1)})
	put(t, s, store.Record{Key: Key(4), Payload: []byte("gone")})
	put(t, s, store.Record{Key: Key(1), Payload: Payload(1, 11), Type: 6, Cost: time.Minute})
	if err := s.Delete(t.Context(), Key(4)); err != nil {
		t.Fatal(err)
	}
	got := listed(t, s)
	for _, info := range got {
		if since := time.Since(info.Used); since < -time.Hour || since > 2*time.Hour {
			t.Errorf("%s: used %v", info.Key, info.Used)
		}
	}
	if len(got) != 3 {
		t.Fatalf("%d records, want 3", len(got))
	}
	if i := got[Key(1)]; i.Size != 11 || i.Type != 6 || i.Cost != time.Minute {
		t.Errorf("record 1: %+v", i)
	}
	if i := got[Key(2)]; i.Size != 1<<20 {
		t.Errorf("record 2: %+v", i)
	}
	if i := got[Key(3)]; i.Link != Key(1) || i.Size != 0 {
		t.Errorf("record 3: %+v", i)
	}
	for _, err := range s.Records(t.Context()) { // an iteration may end early
		if err != nil {
			t.Error(err)
		}
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range s.Records(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled Records yields %v", err)
		}
	}
}

func testManifests(t *testing.T, s store.Manifests) {
	if _, err := s.Manifest(t.Context(), "none"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Manifest: %v, want ErrNotFound", err)
	}
	names := []string{"", "train", "a/../b", "\x00\xff", string(Payload(1, 5000))}
	for i, name := range names {
		m := store.Manifest{Name: name, Pinned: i%2 == 0, Time: time.Unix(int64(i), 5), Note: Payload(2, i), Keys: []key.Key{Key(i), {}, Key(i)}}
		for range 2 { // the second replaces the first
			if err := s.PutManifest(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		got, err := s.Manifest(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if got.Name != name || got.Pinned != m.Pinned || !got.Time.Equal(m.Time) || !bytes.Equal(got.Note, m.Note) || !slices.Equal(got.Keys, m.Keys) {
			t.Errorf("manifest %d came back as %+v", i, got)
		}
	}
	if err := s.DeleteManifest(t.Context(), "train"); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteManifest(t.Context(), "never there"); err != nil {
		t.Errorf("deleting what is not there: %v", err)
	}
	if _, err := s.Manifest(t.Context(), "train"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("deleted manifest: %v", err)
	}
	var found []string
	for m, err := range s.Manifests(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if m.Keys != nil {
			t.Errorf("Manifests yields keys")
		}
		found = append(found, m.Name)
	}
	want := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "train" })
	slices.Sort(found)
	slices.Sort(want)
	if !slices.Equal(found, want) {
		t.Errorf("Manifests yields %q, want %q", found, want)
	}
	if err := s.PutManifest(t.Context(), store.Manifest{Name: "now"}); err != nil {
		t.Fatal(err)
	}
	if m, err := s.Manifest(t.Context(), "now"); err != nil || m.Time.IsZero() {
		t.Errorf("Time was not set: %v, %v", m.Time, err)
	}
}

func testCollect(t *testing.T, s store.Store) {
	for i := range 100 {
		put(t, s, store.Record{Key: Key(i), Payload: Payload(uint64(i), 10_000)})
	}
	before, err := s.Usage(t.Context())
	if err != nil || before.Records != 100 || before.Bytes < 1_000_000 {
		t.Fatalf("Usage = %+v, %v", before, err)
	}
	if freed, err := s.Collect(t.Context(), 2*before.Bytes); err != nil || freed != 0 {
		t.Errorf("Collect above what is held freed %d, %v", freed, err)
	}
	freed, err := s.Collect(t.Context(), 500_000)
	if err != nil || freed < before.Bytes-500_000 {
		t.Errorf("Collect freed %d, %v", freed, err)
	}
	after, err := s.Usage(t.Context())
	if err != nil || after.Bytes > 500_000 || after.Records < 30 || after.Records > 50 {
		t.Errorf("Usage after = %+v, %v", after, err)
	}
	left := int64(0)
	for i := range 100 {
		got, err := s.Get(t.Context(), Key(i))
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil || !bytes.Equal(got.Payload, Payload(uint64(i), 10_000)) {
			t.Errorf("record %d: %v", i, err)
		}
		left++
	}
	if left != after.Records {
		t.Errorf("%d records can be read, Usage says %d", left, after.Records)
	}
}

// testCheapFirst checks that ten minutes of results, with their links, outlive as many
// cheap bytes that were used later.
func testCheapFirst(t *testing.T, s store.Store) {
	const results, each = 20, 30 * time.Second
	for i := range results {
		put(t, s, store.Record{Key: Key(i), Payload: Payload(uint64(i), 50_000), Cost: each})
		put(t, s, store.Record{Key: Key(1000 + i), Link: Key(i), Cost: each})
	}
	for i := range 100 {
		put(t, s, store.Record{Key: Key(2000 + i), Payload: Payload(uint64(i), 10_000), Cost: time.Duration(i%2) * time.Millisecond})
	}
	if _, err := s.Collect(t.Context(), 1_300_000); err != nil {
		t.Fatal(err)
	}
	for i := range results {
		get(t, s, Key(i))
		get(t, s, Key(1000+i))
	}
	left := [2]int{}
	for i := range 100 {
		ok, err := s.Has(t.Context(), Key(2000+i))
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			left[i%2]++
		}
	}
	if left[0] != 0 || left[1] == 0 {
		t.Errorf("of records that cost nothing %d are left, and of those that cost a millisecond %d", left[0], left[1])
	}
}

func testPinned(t *testing.T, s store.Store) {
	for i := range 20 {
		put(t, s, store.Record{Key: Key(i), Payload: Payload(uint64(i), 50_000*(1+i%10))})
	}
	put(t, s, store.Record{Key: Key(50), Link: Key(4)})
	for _, m := range []store.Manifest{
		{Name: "pinned", Pinned: true, Keys: []key.Key{Key(0), {}, Key(19), Key(50), Key(12345)}},
		{Name: "unpinned", Keys: []key.Key{Key(7)}},
	} {
		if err := s.PutManifest(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Collect(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 4, 19} {
		if got := get(t, s, Key(i)); !bytes.Equal(got.Payload, Payload(uint64(i), 50_000*(1+i%10))) {
			t.Errorf("pinned record %d is wrong", i)
		}
	}
	if got := get(t, s, Key(50)); got.Link != Key(4) {
		t.Errorf("pinned link leads to %s", got.Link)
	}
	wantMissing(t, s, Key(7))
	if err := s.DeleteManifest(t.Context(), "pinned"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Collect(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	wantMissing(t, s, Key(0))
}

func testLease(t *testing.T, s store.Leases) {
	var holders, turns atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				release, err := s.Lease(t.Context(), Key(1))
				if err != nil {
					t.Errorf("Lease: %v", err)
					return
				}
				if holders.Add(1) != 1 {
					t.Error("two hold the same lease")
				}
				turns.Add(1)
				holders.Add(-1)
				release()
				release() // again is harmless
			}
		})
	}
	wg.Wait()
	if turns.Load() != 160 {
		t.Errorf("%d turns, want 160", turns.Load())
	}
	one, err := s.Lease(t.Context(), Key(1))
	if err != nil {
		t.Fatal(err)
	}
	two, err := s.Lease(t.Context(), Key(2)) // another key is not affected
	if err != nil {
		t.Fatal(err)
	}
	two()
	one()
}

func testLeaseCancel(t *testing.T, s store.Leases) {
	release, err := s.Lease(t.Context(), Key(1))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := s.Lease(ctx, Key(1)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting for a held lease: %v, want the context's error", err)
	}
	release()
	again, err := s.Lease(t.Context(), Key(1))
	if err != nil {
		t.Fatalf("after release: %v", err)
	}
	again()
}

func testTryLease(t *testing.T, s store.Leases) {
	one, err := s.Lease(t.Context(), Key(1))
	if err != nil {
		t.Fatal(err)
	}
	try := func(want []bool, keys ...key.Key) (release func()) {
		t.Helper()
		leased, release, err := s.TryLease(t.Context(), keys)
		if err != nil || !slices.Equal(leased, want) {
			t.Fatalf("TryLease: %v, %v, want %v", leased, err, want)
		}
		clear(leased) // belongs to the caller
		return release
	}
	some := try([]bool{true, false, true}, Key(0), Key(1), Key(2)) // and does not wait
	try([]bool{false, false, true}, Key(2), Key(1), Key(3))()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := s.Lease(ctx, Key(2)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting for a lease of several: %v, want the context's error", err)
	}
	some()
	some() // again is harmless
	one()
	try([]bool{true, true, true, true}, Key(3), Key(2), Key(1), Key(0))()
	try(nil)()
	ended, stop := context.WithCancel(t.Context())
	stop()
	if _, _, err := s.TryLease(ended, []key.Key{Key(5)}); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that ended lends: %v", err)
	}

	var holders [4]atomic.Int32
	var leased atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				keys := []key.Key{Key(10 + i%4), Key(10 + (i+1)%4)}
				got, release, err := s.TryLease(t.Context(), keys)
				if err != nil {
					t.Errorf("TryLease: %v", err)
					return
				}
				for j := range keys {
					if got[j] {
						leased.Add(1)
						if holders[(i+j)%4].Add(1) != 1 {
							t.Error("two hold the same lease")
						}
					}
				}
				for j := range keys {
					if got[j] {
						holders[(i+j)%4].Add(-1)
					}
				}
				release()
			}
		})
	}
	wg.Wait()
	if leased.Load() == 0 {
		t.Error("nothing was leased")
	}
}
