//go:build unix

package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk/internal/format"
	"github.com/larder-data/larder/store/disk/internal/vfs"
	"github.com/larder-data/larder/store/storetest"
)

// TestFingerprintIsNoKey checks that two keys with one fingerprint are distinguished.
func TestFingerprintIsNoKey(t *testing.T) {
	s := open(t, Options{Dir: t.TempDir()})
	if err := s.Put(t.Context(), record(1)); err != nil {
		t.Fatal(err)
	}
	s.index.places[format.Fingerprint(storetest.Key(2))] = s.index.places[format.Fingerprint(storetest.Key(1))]
	if _, err := s.Get(t.Context(), storetest.Key(2)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get: %v", err)
	}
	if ok, err := s.Has(t.Context(), storetest.Key(2)); ok || err != nil {
		t.Errorf("Has: %v, %v", ok, err)
	}
	if _, err := s.Provenance(t.Context(), storetest.Key(2)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Provenance: %v", err)
	}
	if err := holds(s, 1); err != nil {
		t.Error(err)
	}
}

// TestFingerprintIsNoKeyInGroups does the same for a record in a group.
func TestFingerprintIsNoKeyInGroups(t *testing.T) {
	s := open(t, Options{Dir: t.TempDir()})
	putMany(t, s, similarFrom(0, 10))
	there, other := storetest.Key(3), storetest.Key(77)
	s.index.places[format.Fingerprint(other)] = s.index.places[format.Fingerprint(there)]
	if _, err := s.Get(t.Context(), other); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get: %v", err)
	}
	if ok, err := s.Has(t.Context(), other); ok || err != nil {
		t.Errorf("Has: %v, %v", ok, err)
	}
	if _, err := s.Provenance(t.Context(), other); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Provenance: %v", err)
	}
	got, err := s.GetMany(t.Context(), []key.Key{other, there})
	if err != nil || !got[0].Key.IsZero() || got[1].Key != there {
		t.Errorf("GetMany: %v, %v", got, err)
	}
}

// TestHeaderIsWholeOrNothing changes each byte of a header: the record must be unchanged or missing.
func TestHeaderIsWholeOrNothing(t *testing.T) {
	for _, want := range []store.Record{
		{Key: storetest.Key(1), Type: 7, Cost: time.Hour, Created: time.Unix(1e9, 0), Payload: []byte("value")},
		{Key: storetest.Key(1), Type: 7, Created: time.Unix(1e9, 0), Link: storetest.Key(2)},
	} {
		dir := t.TempDir()
		s := open(t, Options{Dir: dir})
		if err := s.Put(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		path := s.writer.pack.path
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		sound, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lost := 0
		for at := range format.HeaderSize {
			b := bytes.Clone(sound)
			b[at] ^= 1 << (at % 8)
			if err := os.WriteFile(path, b, 0o666); err != nil {
				t.Fatal(err)
			}
			s := open(t, Options{Dir: dir, ReadOnly: true})
			got, err := s.Get(t.Context(), want.Key)
			switch {
			case errors.Is(err, store.ErrNotFound):
				lost++
			case err != nil || !reflect.DeepEqual(got, want):
				t.Errorf("byte %d: got %+v, %v; want %+v or nothing", at, got, err, want)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if lost != format.HeaderSize {
			t.Errorf("%d of %d changes went unnoticed", format.HeaderSize-lost, format.HeaderSize)
		}
	}
}

// TestProvenanceIsChecked checks that provenance is returned correctly or not at all.
func TestProvenanceIsChecked(t *testing.T) {
	s := open(t, Options{Dir: t.TempDir()})
	if err := s.Put(t.Context(), store.Record{Key: storetest.Key(1), Payload: []byte("value"), Provenance: []byte("provenance")}); err != nil {
		t.Fatal(err)
	}
	path := s.writer.pack.path
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[bytes.Index(b, []byte("provenance"))] = 'P'
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Provenance(t.Context(), storetest.Key(1)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestDamagedIndexCostsNothing checks that a damaged index is rejected, and the pack is read instead.
func TestDamagedIndexCostsNothing(t *testing.T) {
	dir := sample(t)
	if err := os.Remove(filepath.Join(dir, mergedFile)); err != nil { // or no other would be read
		t.Fatal(err)
	}
	indexes, err := filepath.Glob(filepath.Join(dir, vfs.Packs, "*"+indexSuffix))
	if err != nil || len(indexes) == 0 {
		t.Fatal(indexes, err)
	}
	for at := range 2 * format.EntrySize { // the header has the same length
		for _, path := range indexes {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			b[at%len(b)] ^= 1 << (at % 8)
			if err := os.WriteFile(path, b, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		s := open(t, small(dir)) // writes new ones
		for i := range sampleRecords {
			if err := holds(s, i); err != nil {
				t.Fatalf("byte %d of the indexes: %v", at, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMovedRecordsAreChecked checks that a damaged record is not moved to another pack, where it would get a new
// checksum.
func TestMovedRecordsAreChecked(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	for i := range 10 {
		if err := s.Put(t.Context(), store.Record{Key: storetest.Key(i), Payload: storetest.Payload(uint64(i), 1000)}); err != nil {
			t.Fatal(err)
		}
	}
	path := s.writer.pack.path
	for i := range 8 {
		if err := s.Delete(t.Context(), storetest.Key(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[bytes.Index(b, storetest.Payload(8, 1000))+500] ^= 1
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	s = open(t, Options{Dir: dir})
	if _, err := s.Collect(t.Context(), 1<<40); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the pack was not rewritten: %v", err)
	}
	if _, err := s.Get(t.Context(), storetest.Key(8)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the damaged record: %v", err)
	}
	if got, err := s.Get(t.Context(), storetest.Key(9)); err != nil || !bytes.Equal(got.Payload, storetest.Payload(9, 1000)) {
		t.Errorf("the sound record: %v", err)
	}
}

// TestCloseMakesSpace checks that a run that exceeds the limit with its last write leaves no more than the limit.
func TestCloseMakesSpace(t *testing.T) {
	for range 5 {
		o := Options{Dir: t.TempDir(), MaxBytes: 200_000}
		s := open(t, o)
		for i := 0; s.space.held.Load() <= o.MaxBytes; i++ {
			if err := s.Put(t.Context(), store.Record{Key: storetest.Key(i), Payload: storetest.Payload(uint64(i), 10_000)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		u, err := open(t, o).Usage(t.Context())
		if err != nil || u.Bytes > o.MaxBytes {
			t.Fatalf("%d bytes of %d are left, %v", u.Bytes, o.MaxBytes, err)
		}
	}
}

// hooked is a context that calls a function when its Err is called.
type hooked struct {
	context.Context
	do func()
}

func (h hooked) Err() error {
	h.do()
	return h.Context.Err()
}

// fill puts records of 10 KB each, from the given one on, until the limit is exceeded.
func fill(t *testing.T, s *Store, from int) {
	t.Helper()
	for i := from; s.space.held.Load() <= s.limit; i++ {
		mustPut(t, s, store.Record{Key: storetest.Key(i), Payload: storetest.Payload(uint64(i), 10_000)})
	}
}

// wantWithin checks the size left by a closed store.
func wantWithin(t *testing.T, o Options) {
	t.Helper()
	u, err := open(t, o).Usage(t.Context())
	if err != nil || u.Bytes > o.MaxBytes {
		t.Errorf("%d bytes of %d are left, %v", u.Bytes, o.MaxBytes, err)
	}
}

// TestCloseEvictsWhatCameDuringAnEviction checks that Close evicts records that were put during an eviction.
func TestCloseEvictsWhatCameDuringAnEviction(t *testing.T) {
	o := Options{Dir: t.TempDir(), MaxBytes: 200_000}
	s := open(t, o)
	s.space.due = true // so housekeep does not evict as well
	fill(t, s, 0)
	impatient, cancel := context.WithCancel(t.Context())
	cancel() // else Put waits for the eviction
	more := sync.OnceFunc(func() {
		for i := range 3 {
			if err := s.Put(impatient, store.Record{Key: storetest.Key(1000 + i), Payload: storetest.Payload(uint64(i), 10_000)}); err != nil {
				t.Error(err)
			}
		}
	})
	s.evict(hooked{t.Context(), more}, 0)
	if held := s.space.held.Load(); held <= o.MaxBytes {
		t.Fatalf("only %d bytes are held: nothing is left to do", held)
	}
	s.space.done()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantWithin(t, o)
}

// evicted waits for the end of one more eviction in the background.
func evicted(s *Store) {
	s.space.mu.Lock()
	defer s.space.mu.Unlock()
	for ended := s.space.ended; s.space.ended == ended; s.space.changed.Wait() {
		s.space.want()
	}
}

// TestCloseEvictsWhatAnotherProcessDidNot checks that Close does not rely on an eviction left to another process.
func TestCloseEvictsWhatAnotherProcessDidNot(t *testing.T) {
	o := Options{Dir: t.TempDir(), MaxBytes: 200_000}
	s, other := open(t, o), open(t, o)
	unlock, err := other.lockCollect(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, s, 0)
	evicted(s) // it gave up
	unlock()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantWithin(t, o)
}

// TestCloseEvictsWhatIsNotPinned checks that Close evicts the rest where nearly everything is pinned.
func TestCloseEvictsWhatIsNotPinned(t *testing.T) {
	o := Options{Dir: t.TempDir(), MaxBytes: 200_000}
	s := open(t, o)
	m := store.Manifest{Pinned: true}
	for i := range 18 {
		m.Keys = append(m.Keys, storetest.Key(i))
	}
	if err := s.PutManifest(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	fill(t, s, 0)
	evicted(s)
	fill(t, s, 100)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantWithin(t, o)
}

// TestCloseCountsAllFiles checks that files that hold no records count, too.
func TestCloseCountsAllFiles(t *testing.T) {
	o := Options{Dir: t.TempDir(), MaxBytes: 200_000}
	s := open(t, o)
	for i := range 4 { // 45 KB in all
		if err := s.PutManifest(t.Context(), store.Manifest{Name: fmt.Sprint(i), Note: make([]byte, 11_000)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, o)
	for i := range 17 { // 173 KB
		mustPut(t, s, store.Record{Key: storetest.Key(i), Payload: storetest.Payload(uint64(i), 10_000)})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantWithin(t, o)
}
