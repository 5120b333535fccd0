package redis

import (
	"testing"
	"time"

	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/storetest"
)

// settled waits until no eviction runs.
func settled(s *Store) {
	for s.collects.Load() {
		<-time.After(time.Millisecond)
	}
}

// TestCap checks that the limit holds while two stores write, also after the server lost the count.
func TestCap(t *testing.T) {
	const limit = 400_000
	server := startServer(t)
	o := Options{URL: server.url(), MaxBytes: limit}
	a, b := open(t, o), open(t, o)
	refused := 0
	for i := range 2000 {
		s := []*Store{a, b}[i%2]
		if s.Put(t.Context(), store.Record{Key: storetest.Key(i), Payload: storetest.Payload(uint64(i), 1000)}) != nil {
			refused++
			settled(s) // evictions by the other store are not waited for
			s.rest.Store(0)
		}
		if i == 1002 { // both have put, and one has seen that the count is new
			settled(a)
			settled(b)
		}
		if i%100 == 0 {
			u, err := s.Usage(t.Context())
			if err != nil || u.Limit != limit || u.Bytes > limit+limit/8 {
				t.Fatalf("after %d records: %+v, %v", i, u, err)
			}
		}
		if i == 1000 {
			if err := server.client.Del(t.Context(), a.countName()).Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	settled(a)
	settled(b)
	u, err := a.Usage(t.Context())
	if err != nil || u.Bytes > limit+limit/16 || u.Records < 100 {
		t.Errorf("in the end: %+v, %v", u, err)
	}
	if refused > 1000 {
		t.Errorf("%d of 2000 records were refused", refused)
	}
	if n, err := a.count(t.Context()); err != nil || n < u.Bytes {
		t.Errorf("%d bytes are counted, and %d held: %v", n, u.Bytes, err)
	}
}

// TestUsageIsTrue checks that Usage is about what the server reports.
func TestUsageIsTrue(t *testing.T) {
	server := startServer(t)
	s := open(t, Options{URL: server.url()})
	for i := range 300 {
		if err := s.Put(t.Context(), store.Record{Key: storetest.Key(i), Payload: storetest.Payload(uint64(i), i*i%5000), Provenance: make([]byte, 100)}); err != nil {
			t.Fatal(err)
		}
	}
	var used int64
	for i := range 300 {
		used += server.client.MemoryUsage(t.Context(), s.recordName(storetest.Key(i))).Val()
	}
	u, err := s.Usage(t.Context())
	if err != nil || u.Records != 300 || u.Bytes < used*3/4 || u.Bytes > used*5/4 {
		t.Errorf("%+v, %v; the server says %d bytes", u, err, used)
	}
}

// TestUseIsNoted checks that a record that is used stays longer than one that is not.
func TestUseIsNoted(t *testing.T) {
	server := startServer(t)
	s := open(t, Options{URL: server.url()})
	old := time.Now().Add(-100 * time.Hour)
	for i := range 20 {
		r := store.Record{Key: storetest.Key(i), Payload: make([]byte, 1000), Created: old}
		if err := server.client.Set(t.Context(), s.recordName(r.Key), encode(&r, old), 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.GetMany(t.Context(), []keyOf{storetest.Key(3), storetest.Key(4)}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Collect(t.Context(), 6000); err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{3, 4} {
		if _, err := s.Get(t.Context(), storetest.Key(i)); err != nil {
			t.Errorf("record %d, which was used: %v", i, err)
		}
	}
}

// TestForeignNames checks that names of other programs are neither seen nor changed.
func TestForeignNames(t *testing.T) {
	server := startServer(t)
	s, other := open(t, Options{URL: server.url(), Prefix: "a*"}), open(t, Options{URL: server.url(), Prefix: "ab"})
	ctx := t.Context()
	for _, name := range []string{"mine", "a*r1:short", "abr1:short"} {
		if err := server.client.Set(ctx, name, "value", 0).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := other.Put(ctx, store.Record{Key: storetest.Key(1)}); err != nil {
		t.Fatal(err)
	}
	if u, err := s.Usage(ctx); err != nil || u.Records != 0 {
		t.Errorf("%+v, %v", u, err)
	}
	if _, err := s.Collect(ctx, 0); err != nil {
		t.Fatal(err)
	}
	if n := server.client.Exists(ctx, "mine", "a*r1:short", "abr1:short", other.recordName(storetest.Key(1))).Val(); n != 4 {
		t.Errorf("%d of 4 names are left", n)
	}
}

// TestCountIsLostDuringAnEviction checks that an eviction that began before the server lost the count does not correct
// the new one.
func TestCountIsLostDuringAnEviction(t *testing.T) {
	server := startServer(t)
	s := open(t, Options{URL: server.url(), MaxBytes: 1 << 20})
	put := func(i int) {
		if err := s.Put(t.Context(), store.Record{Key: storetest.Key(i), Payload: storetest.Payload(uint64(i), 1000)}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 100 {
		put(i)
	}
	settled(s)
	before, err := s.count(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.collects.Store(true) // an eviction is in progress
	if err := server.client.Del(t.Context(), s.countName()).Err(); err != nil {
		t.Fatal(err)
	}
	put(100)
	put(101)
	if err := s.recount(t.Context(), -1000, before); err != nil { // it ends
		t.Fatal(err)
	}
	s.collects.Store(false)
	put(102)
	settled(s)
	u, err := s.Usage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n, err := s.count(t.Context()); err != nil || n < u.Bytes {
		t.Errorf("%d bytes are counted, and %d held: %v", n, u.Bytes, err)
	}
}

// TestNewCountWhileAnotherEvicts checks that all records are counted after the count was
// lost while another process was evicting.
func TestNewCountWhileAnotherEvicts(t *testing.T) {
	server := startServer(t)
	s := open(t, Options{URL: server.url(), MaxBytes: 1 << 20})
	put := func(i int) {
		t.Helper()
		if err := s.Put(t.Context(), store.Record{Key: storetest.Key(i), Payload: storetest.Payload(uint64(i), 1000)}); err != nil {
			t.Fatal(err)
		}
		settled(s)
	}
	for i := range 100 {
		put(i)
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(server.client.Set(t.Context(), s.collectName(), "another", time.Minute).Err())
	do(server.client.Del(t.Context(), s.countName()).Err())
	put(100)
	do(server.client.Del(t.Context(), s.collectName()).Err())
	put(101)
	u, err := s.Usage(t.Context())
	if err != nil || u.Records != 102 {
		t.Fatalf("usage %+v, %v", u, err)
	}
	if n, err := s.count(t.Context()); err != nil || n < u.Bytes {
		t.Errorf("%d bytes are counted, and %d held: %v", n, u.Bytes, err)
	}
}
