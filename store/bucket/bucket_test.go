package bucket_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/objectstore/objectstoretest"
	_ "github.com/larder-data/larder/objectstore/s3"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/bucket"
	"github.com/larder-data/larder/store/memory"
	"github.com/larder-data/larder/store/storetest"
	"github.com/larder-data/larder/store/tier"
)

// open opens a store that lists the bucket at each missing key and writes when it is closed.
func open(tb testing.TB, o bucket.Options) *bucket.Store {
	tb.Helper()
	if o.URL == "" {
		o.URL = "s3://bucket/larder"
	}
	if o.Refresh == 0 {
		o.Refresh = -1
	}
	o.Delay = time.Hour
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s, err := bucket.Open(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func payload(i int) []byte { return storetest.Payload(uint64(i), 100+i%5000) }

// fill stores records under the keys [from, to), in a pack or more.
func fill(tb testing.TB, o bucket.Options, from, to int) {
	tb.Helper()
	s := open(tb, o)
	for i := from; i < to; i++ {
		if err := s.Put(context.Background(), store.Record{Key: storetest.Key(i), Payload: payload(i), Provenance: []byte("from")}); err != nil {
			tb.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		tb.Fatal(err)
	}
}

// count reads the records under the keys [0, n) and returns how many there are. All others must be missing.
func count(tb testing.TB, s *bucket.Store, n int) (found int) {
	tb.Helper()
	keys := make([]key.Key, n)
	for i := range keys {
		keys[i] = storetest.Key(i)
	}
	records, err := s.GetCombined(context.Background(), keys)
	if err != nil {
		tb.Fatal(err)
	}
	for i, r := range records {
		if r.Key.IsZero() {
			continue
		}
		found++
		if r.Key != keys[i] || !bytes.Equal(r.Payload, payload(i)) || string(r.Provenance) != "from" {
			tb.Fatalf("record %d is wrong", i)
		}
	}
	return found
}

func TestRecords(t *testing.T) {
	storetest.Records(t, func(tb testing.TB) store.Records {
		objectstoretest.S3(tb)
		return open(tb, bucket.Options{})
	})
}

func TestLeases(t *testing.T) {
	storetest.Leases(t, func(tb testing.TB) store.Leases { return open(tb, bucket.Options{}) })
}

// TestMachinesShare checks that what a machine has written is found by another one that is in use, and that the later of
// two records counts on all machines.
func TestMachinesShare(t *testing.T) {
	_, objects := objectstoretest.S3(t)
	other := open(t, bucket.Options{})
	if n := count(t, other, 300); n != 0 {
		t.Errorf("an empty bucket has %d records", n)
	}
	fill(t, bucket.Options{PackBytes: 64 << 10}, 0, 200)
	fill(t, bucket.Options{}, 100, 250)
	if n := count(t, other, 300); n != 250 {
		t.Errorf("%d records, want 250", n)
	}
	k := storetest.Key(7)
	at := time.Now()
	for i, s := range []*bucket.Store{open(t, bucket.Options{}), open(t, bucket.Options{})} {
		r := store.Record{Key: k, Payload: payload(1000 + i), Provenance: []byte("from"), Created: at.Add(time.Duration(-i) * time.Second)}
		if err := errors.Join(s.Put(t.Context(), r), s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := open(t, bucket.Options{}).Get(t.Context(), k); err != nil || !bytes.Equal(r.Payload, payload(1001)) {
		t.Errorf("the record that was put first counts, %v", err)
	}
	if err := errors.Join(other.Delete(t.Context(), k), other.Close()); err != nil {
		t.Fatal(err)
	}
	before := len(objects.Names())
	again := open(t, bucket.Options{})
	r, err := again.GetCombined(t.Context(), []key.Key{storetest.Key(9)})
	if err := errors.Join(err, again.Put(t.Context(), r...), again.Close()); err != nil || len(objects.Names()) != before {
		t.Errorf("%d objects, %d after a record was put again, %v", before, len(objects.Names()), err)
	}
	if n := count(t, open(t, bucket.Options{}), 300); n != 249 {
		t.Errorf("%d records after one was deleted, want 249", n)
	}
}

// TestRequestsAreFew checks the requests of a machine that reads many small results of another one.
func TestRequestsAreFew(t *testing.T) {
	server, _ := objectstoretest.S3(t)
	s := open(t, bucket.Options{})
	for i := range 10_000 {
		if err := s.Put(t.Context(), store.Record{Key: storetest.Key(i), Payload: storetest.Payload(uint64(i), 4096)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wrote := server.Requests()
	reader := open(t, bucket.Options{})
	for from := 0; from < 10_000; from += 500 {
		keys := make([]key.Key, 500)
		for i := range keys {
			keys[i] = storetest.Key(from + i)
		}
		records, err := reader.GetMany(t.Context(), keys)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range records {
			if !bytes.Equal(r.Payload, storetest.Payload(uint64(from+i), 4096)) {
				t.Fatalf("record %d is wrong", from+i)
			}
		}
	}
	if read := server.Requests(); len(wrote) > 15 || len(read) > 30 {
		t.Errorf("%d requests to write and %d to read 40 MB", len(wrote), len(read))
	}
}

// TestDamage checks that an object that was changed, cut, swapped or removed makes records missing, and never wrong.
func TestDamage(t *testing.T) {
	_, objects := objectstoretest.S3(t)
	fill(t, bucket.Options{PackBytes: 4 << 10}, 0, 100)
	names := objects.Names()
	sound := map[string][]byte{}
	for _, name := range names {
		sound[name] = objects.Get(name)
	}
	for _, name := range names {
		if b := bytes.Clone(sound[name]); strings.HasPrefix(name, "bucket/larder/index/") {
			const start, entry, size = 24, 81, 33
			first, second := b[start:start+size], b[start+entry:start+entry+size]
			copy(first, bytes.Clone(second))
			copy(second, sound[name][start:])
			objects.Put(name, b) // two records have exchanged their keys
			if n := count(t, open(t, bucket.Options{}), 120); n >= 100 {
				t.Errorf("%d records", n)
			}
			objects.Put(name, sound[name])
		}
	}
	random, less := rand.New(rand.NewPCG(1, 2)), 0
	for range 500 {
		name := names[random.IntN(len(names))]
		b := bytes.Clone(sound[name])
		switch at := random.IntN(len(b)); random.IntN(3) {
		case 0:
			b[at] ^= 1 << random.IntN(8)
		case 1:
			b = b[:at]
		default:
			b = sound[names[random.IntN(len(names))]]
		}
		objects.Put(name, b)
		if count(t, open(t, bucket.Options{}), 120) < 100 {
			less++
		}
		objects.Put(name, sound[name])
	}
	if less < 100 {
		t.Errorf("%d of 500 changes were noticed", less)
	}
	if n := count(t, open(t, bucket.Options{}), 120); n != 100 {
		t.Errorf("%d records, want 100", n)
	}
}

// TestSignatures checks that a user with a secret believes only what was signed with it.
func TestSignatures(t *testing.T) {
	objectstoretest.S3(t)
	secret := []byte("0123456789abcdef")
	fill(t, bucket.Options{}, 0, 50)
	fill(t, bucket.Options{Secret: []byte("fedcba9876543210")}, 0, 50)
	if n := count(t, open(t, bucket.Options{Secret: secret}), 100); n != 0 {
		t.Errorf("%d records are believed", n)
	}
	fill(t, bucket.Options{Secret: secret}, 20, 60)
	if n := count(t, open(t, bucket.Options{Secret: secret}), 100); n != 40 {
		t.Errorf("%d records are believed, want 40", n)
	}
}

// TestAwayServices checks that a service that fails is left alone for a while, and makes no operation fail.
func TestAwayServices(t *testing.T) {
	server, _ := objectstoretest.S3(t)
	server.Fail(func(int, *http.Request) objectstoretest.Fault {
		return objectstoretest.Fault{Status: http.StatusForbidden}
	})
	var log bytes.Buffer
	s := open(t, bucket.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for i := range 10 {
		if _, err := s.Get(t.Context(), storetest.Key(i)); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Get: %v", err)
		}
		if err := s.Put(t.Context(), store.Record{Key: storetest.Key(i)}); !errors.Is(err, bucket.ErrAway) {
			t.Errorf("Put: %v", err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if n := len(server.Requests()); n > 3 || strings.Count(log.String(), "\n") != 1 {
		t.Errorf("%d requests, log %s", n, &log)
	}
}

// TestStalledServices checks that a service that does not respond is given up after the timeout.
func TestStalledServices(t *testing.T) {
	server, _ := objectstoretest.S3(t)
	fill(t, bucket.Options{}, 0, 10)
	server.Fail(func(int, *http.Request) objectstoretest.Fault { return objectstoretest.Fault{Latency: time.Hour} })
	var log bytes.Buffer
	s := open(t, bucket.Options{Timeout: 20 * time.Millisecond, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if _, err := s.Get(t.Context(), storetest.Key(1)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get: %v", err)
	}
	if err := s.Close(); err != nil || strings.Count(log.String(), "\n") != 1 {
		t.Errorf("%v, log %s", err, &log)
	}
}

// TestForeignIndexes checks that an index that cannot be read does not hide the others.
func TestForeignIndexes(t *testing.T) {
	server, objects := objectstoretest.S3(t)
	fill(t, bucket.Options{}, 0, 10)
	objects.Put("bucket/larder/index/foreign", []byte("hello"))
	objects.Put("bucket/larder/index/large", make([]byte, 20<<20))
	objects.Put("bucket/larder/index/denied", []byte("hello"))
	server.Fail(func(_ int, r *http.Request) (f objectstoretest.Fault) {
		if strings.HasSuffix(r.URL.Path, "denied") {
			f.Status = http.StatusForbidden
		}
		return f
	})
	if n := count(t, open(t, bucket.Options{}), 10); n != 10 {
		t.Errorf("%d records, want 10", n)
	}
}

// TestWhatWasNotStoredIsStoredLater checks that results that a machine could not store are in the bucket after it has read
// them again, but not those that were deleted.
func TestWhatWasNotStoredIsStoredLater(t *testing.T) {
	objectstoretest.S3(t)
	near := memory.New(memory.Options{})
	put := tier.Share(near, open(t, bucket.Options{ReadOnly: true}))
	for i := range 600 {
		if err := put.Put(t.Context(), store.Record{Key: storetest.Key(i), Payload: payload(i), Provenance: []byte("from")}); err != nil {
			t.Fatal(err)
		}
	}
	again := tier.Share(near, open(t, bucket.Options{}))
	keys := make([]key.Key, 599)
	for i := range keys {
		keys[i] = storetest.Key(i)
	}
	_, err := again.GetMany(t.Context(), keys)
	_, gerr := again.Get(t.Context(), storetest.Key(599))
	if err := errors.Join(err, gerr, again.Close()); err != nil {
		t.Fatal(err)
	}
	other := open(t, bucket.Options{})
	if n := count(t, other, 700); n != 600 {
		t.Errorf("%d records, want 600", n)
	}
	if err := errors.Join(other.Delete(t.Context(), storetest.Key(5)), other.Close()); err != nil {
		t.Fatal(err)
	}
	third := open(t, bucket.Options{})
	if lacks, err := third.Lacks(t.Context(), []key.Key{storetest.Key(5), storetest.Key(6), storetest.Key(1000)}); err != nil || len(lacks) != 1 {
		t.Errorf("lacks %v, %v", lacks, err)
	}
}

func TestWrongOptions(t *testing.T) {
	for want, o := range map[string]bucket.Options{
		"has 5 bytes":   {URL: "s3://bucket/a", Secret: []byte("short")},
		"empty name":    {URL: "s3://bucket/../a"},
		"is not a URL":  {URL: "s3://bucket/%zz"},
		"names no host": {URL: "s3:///a"},
	} {
		if _, err := bucket.Open(o); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "index") {
			t.Errorf("%s: %v", o.URL, err)
		}
	}
}

func TestReadOnly(t *testing.T) {
	_, objects := objectstoretest.S3(t)
	fill(t, bucket.Options{}, 0, 10)
	before := len(objects.Names())
	s := open(t, bucket.Options{ReadOnly: true})
	if n := count(t, s, 10); n != 10 {
		t.Errorf("%d records, want 10", n)
	}
	if err := s.Put(t.Context(), store.Record{Key: storetest.Key(11)}); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("Put: %v", err)
	}
	if err := s.Close(); err != nil || len(objects.Names()) != before {
		t.Errorf("%d objects, %v", len(objects.Names()), err)
	}
}

// TestKilledWriters checks that a pack without an index is not read.
func TestKilledWriters(t *testing.T) {
	_, objects := objectstoretest.S3(t)
	fill(t, bucket.Options{}, 0, 10)
	for _, name := range objects.Names() {
		if rest, ok := strings.CutPrefix(name, "bucket/larder/packs/"); ok {
			objects.Put("bucket/larder/packs/other"+rest, objects.Get(name))
		}
	}
	if n := count(t, open(t, bucket.Options{}), 20); n != 10 {
		t.Errorf("%d records, want 10", n)
	}
}
