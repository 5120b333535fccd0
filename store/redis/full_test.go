package redis

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/storetest"
)

// TestOutOfMemory checks that a server without memory stores nothing more, and returns the records it has.
func TestOutOfMemory(t *testing.T) {
	server, log := startServer(t, "--maxmemory", "4mb", "--maxmemory-policy", "noeviction"), &logged{}
	s := open(t, Options{URL: server.url(), Logger: log.logger()})
	ctx := t.Context()
	stored, full := 0, error(nil)
	for ; stored < 1000 && full == nil; stored++ {
		full = s.Put(ctx, store.Record{Key: storetest.Key(stored), Payload: storetest.Payload(uint64(stored), 50_000)})
	}
	stored--
	if !errors.Is(full, store.ErrFull) || stored < 10 {
		t.Fatalf("after %d records: %v, want ErrFull", stored, full)
	}
	for i := range stored {
		if r, err := s.Get(ctx, storetest.Key(i)); err != nil || !bytes.Equal(r.Payload, storetest.Payload(uint64(i), 50_000)) {
			t.Fatalf("record %d: %v", i, err)
		}
	}
	// A failed replacement removes the old record.
	if err := s.Put(ctx, store.Record{Key: storetest.Key(0), Payload: []byte("new")}); !errors.Is(err, store.ErrFull) {
		t.Errorf("Put: %v, want ErrFull", err)
	}
	if _, err := s.Get(ctx, storetest.Key(0)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("what was replaced: %v", err)
	}
	if n := strings.Count(log.String(), "no memory left"); n != 1 {
		t.Errorf("the log says %d times that there is no memory:\n%s", n, log)
	}
	if err := s.Delete(ctx, storetest.Key(1), storetest.Key(2)); err != nil {
		t.Errorf("Delete: %v", err)
	}
	s.unfit.Load().until = time.Now() // as if time had passed
	if err := s.Put(ctx, store.Record{Key: storetest.Key(3), Payload: []byte("small")}); err != nil {
		t.Errorf("Put after memory is free again: %v", err)
	}
}

// TestEvictingServer checks a server with an eviction policy: it accepts everything and drops records.
func TestEvictingServer(t *testing.T) {
	server := startServer(t, "--maxmemory", "4mb", "--maxmemory-policy", "allkeys-lru")
	s := open(t, Options{URL: server.url()})
	for i := range 500 {
		if err := s.Put(t.Context(), store.Record{Key: storetest.Key(i), Payload: storetest.Payload(uint64(i), 50_000)}); err != nil {
			t.Fatal(err)
		}
	}
	there := 0
	for i := range 500 {
		r, err := s.Get(t.Context(), storetest.Key(i))
		if err == nil && bytes.Equal(r.Payload, storetest.Payload(uint64(i), 50_000)) {
			there++
		} else if !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
	}
	if there == 0 || there == 500 {
		t.Errorf("%d of 500 are there", there)
	}
}
