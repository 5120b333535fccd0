package redis

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/storetest"
)

// TestDamageIsAMiss checks that a damaged record is returned as it was put, or is missing and reported.
func TestDamageIsAMiss(t *testing.T) {
	server, log := startServer(t), &logged{}
	s := open(t, Options{URL: server.url(), Logger: log.logger()})
	k := storetest.Key(1)
	want := store.Record{Key: k, Type: 7, Payload: []byte("payload"), Provenance: []byte("origin"), Cost: time.Second, Created: time.Now()}
	if err := s.Put(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	name := s.recordName(k)
	whole, err := server.client.Get(t.Context(), name).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, value []byte, mayStand bool) {
		t.Helper()
		if err := server.client.Set(t.Context(), name, value, 0).Err(); err != nil {
			t.Fatal(err)
		}
		before := s.damages.Load()
		got, err := s.Get(t.Context(), k)
		if err == nil {
			if !mayStand || !bytes.Equal(got.Payload, want.Payload) || got.Type != want.Type || got.Cost != want.Cost || !got.Created.Equal(want.Created) {
				t.Errorf("%s: got %+v", what, got)
			}
			return
		}
		if mayStand || !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
		if s.damages.Load() != before+1 && len(value) > 0 {
			t.Errorf("%s: not reported", what)
		}
	}
	for i := range whole {
		for bit := range 8 {
			b := bytes.Clone(whole)
			b[i] ^= 1 << bit
			check(fmt.Sprint("byte ", i, " bit ", bit), b, i >= checkedTo && i < headerSize)
		}
		check(fmt.Sprint("cut at ", i), whole[:i], false)
	}
	check("one byte more", append(bytes.Clone(whole), 0), false)
	check("a foreign value", []byte(strings.Repeat("x", 100_000)), false)
	other := want
	other.Key = storetest.Key(2)
	check("another key's record", encode(&other, time.Now()), false)
	check("as it was", whole, true)
	if n := s.damages.Load(); n < 900 || log.lines() != 3 {
		t.Errorf("of %d the log tells of %d:\n%s", n, log.lines(), log)
	}

	if err := server.client.Del(t.Context(), name).Err(); err != nil {
		t.Fatal(err)
	}
	if err := server.client.LPush(t.Context(), name, "a list").Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), k); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a list: %v", err)
	}
	if err := s.Put(t.Context(), want); err != nil {
		t.Errorf("Put in the place of a list: %v", err)
	}
	if _, err := s.Get(t.Context(), k); err != nil {
		t.Error(err)
	}
}

// TestLargeRecords checks large records with and without damage, and that a partial record is not accepted.
func TestLargeRecords(t *testing.T) {
	server := startServer(t)
	s := open(t, Options{URL: server.url(), MaxRecord: 200_000})
	wide := open(t, Options{URL: server.url(), MaxRecord: 1 << 20})
	ctx, k := t.Context(), storetest.Key(1)
	for _, size := range []int{firstRead - headerSize - 1, firstRead - headerSize, firstRead - headerSize + 1, 200_000 - headerSize} {
		want := storetest.Payload(1, size)
		if err := s.Put(ctx, store.Record{Key: k, Payload: want}); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Get(ctx, k); err != nil || !bytes.Equal(got.Payload, want) {
			t.Errorf("%d bytes: %d, %v", size, len(got.Payload), err)
		}
		if err := server.client.SetRange(ctx, s.recordName(k), int64(headerSize+size-1), string(want[size-1]^1)).Err(); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Get(ctx, k); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%d bytes with a wrong one: %d, %v", size, len(got.Payload), err)
		}
	}
	// A record that is too large is refused, and the previous one is removed.
	small, large := store.Record{Key: k, Payload: []byte("before")}, store.Record{Key: k, Payload: make([]byte, 200_000)}
	if err := s.Put(ctx, small); err != nil {
		t.Fatal(err)
	}
	if err := s.Put(ctx, store.Record{Key: storetest.Key(2)}, large, store.Record{Key: storetest.Key(3)}); !errors.Is(err, store.ErrFull) {
		t.Errorf("a record over the bound: %v, want ErrFull", err)
	}
	records, err := s.GetCombined(ctx, []keyOf{storetest.Key(1), storetest.Key(2), storetest.Key(3)})
	if err != nil || !records[0].Key.IsZero() || records[1].Key.IsZero() || records[2].Key.IsZero() {
		t.Errorf("after a record over the bound: %v, %v", records, err)
	}
	// A record over the reader's limit is not read.
	if err := wide.Put(ctx, large); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(ctx, k); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a record over the reader's bound: %v", err)
	}
	if _, err := wide.Get(ctx, k); err != nil {
		t.Error(err)
	}
}

func TestDamagedManifest(t *testing.T) {
	server := startServer(t)
	s := open(t, Options{URL: server.url()})
	m := store.Manifest{Name: "m", Pinned: true, Note: []byte("n"), Keys: []keyOf{storetest.Key(1)}, Time: time.Now()}
	whole := encodeManifest(&m)
	for i := range whole {
		b := bytes.Clone(whole)
		b[i] ^= 4
		for _, value := range [][]byte{b, whole[:i]} {
			if err := server.client.Set(t.Context(), s.manifestName("m"), value, 0).Err(); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Manifest(t.Context(), "m"); !errors.Is(err, store.ErrNotFound) {
				t.Fatalf("damage at %d: %+v, %v", i, got, err)
			}
			if _, err := s.Collect(t.Context(), 1<<40); err != nil {
				t.Fatal(err)
			}
		}
	}
}
