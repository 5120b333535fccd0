//go:build unix

package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk/internal/format"
	"github.com/larder-data/larder/store/storetest"
)

// mergeNow merges everything that s knows.
func mergeNow(s *Store) {
	s.index.mu.Lock()
	s.index.least = 0
	s.index.mu.Unlock()
	s.mergeIndexes(s.life)
}

// apart returns the number of records of s that are missing in its merged index.
func apart(s *Store) int {
	s.index.mu.RLock()
	defer s.index.mu.RUnlock()
	return len(s.index.places) + len(s.index.frozen)
}

func mustPut(t *testing.T, s *Store, records ...store.Record) {
	t.Helper()
	for _, r := range records {
		if err := s.Put(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMergedIndexIsEnoughToOpen checks that a store with a merged index is opened without reading its records.
func TestMergedIndexIsEnoughToOpen(t *testing.T) {
	dir := t.TempDir()
	s := open(t, small(dir))
	for i := range 100 {
		mustPut(t, s, record(i))
	}
	if err := s.Delete(t.Context(), storetest.Key(7)); err != nil {
		t.Fatal(err)
	}
	mergeNow(s)
	if n := apart(s); n != 0 {
		t.Errorf("%d records are apart after a merge", n)
	}
	again := open(t, small(dir))
	if n := apart(again); n != 0 {
		t.Errorf("%d records were read to open the store", n)
	}
	for _, s := range []*Store{s, again} {
		for i := range 100 {
			err := holds(s, i)
			if i == 7 && errors.Is(err, store.ErrNotFound) {
				err = nil
			} else if i == 7 {
				err = fmt.Errorf("the deleted record is there: %w", err)
			}
			if err != nil {
				t.Error(err)
			}
		}
		if u, err := s.Usage(t.Context()); err != nil || u.Records != 99 {
			t.Errorf("%d records, %v; want 99", u.Records, err)
		}
	}
	if got, want := again.space.held.Load(), s.space.held.Load(); got != want {
		t.Errorf("takes itself for %d bytes, the writer for %d", got, want)
	}
}

// TestLaterRecordsReplaceMergedOnes checks that records written after a merge replace merged ones.
func TestLaterRecordsReplaceMergedOnes(t *testing.T) {
	dir := t.TempDir()
	s := open(t, small(dir))
	mustPut(t, s, record(1), record(2), record(3))
	mergeNow(s)
	other := record(1)
	other.Payload = []byte("other")
	mustPut(t, s, other)
	if err := s.Delete(t.Context(), storetest.Key(2)); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Store{s, open(t, small(dir))} {
		if got, err := s.Get(t.Context(), storetest.Key(1)); err != nil || string(got.Payload) != "other" {
			t.Errorf("got %.9q, %v", got.Payload, err)
		}
		if _, err := s.Get(t.Context(), storetest.Key(2)); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a deleted record: %v", err)
		}
		if err := holds(s, 3); err != nil {
			t.Error(err)
		}
	}
}

// TestMergedIndexOfAnotherProcessIsUsed checks that one of the processes with the same records merges, and the others
// use its file.
func TestMergedIndexOfAnotherProcessIsUsed(t *testing.T) {
	dir := t.TempDir()
	a, b := open(t, small(dir)), open(t, small(dir))
	for i := range 50 {
		mustPut(t, a, record(i))
	}
	if _, err := b.Get(t.Context(), storetest.Key(0)); err != nil || apart(b) != 50 {
		t.Fatalf("%d known, %v", apart(b), err)
	}
	mergeNow(a)
	before, err := os.Stat(a.mergedPath())
	if err != nil {
		t.Fatal(err)
	}
	b.mergeIndexes(b.life)
	if n := apart(b); n != 0 {
		t.Errorf("%d records are apart", n)
	}
	after, err := os.Stat(a.mergedPath())
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("the merged index was written again: %v", err)
	}
	for i := range 50 {
		if err := holds(b, i); err != nil {
			t.Error(err)
		}
	}
}

// TestDamagedMergedIndexCostsNothing checks that records missing in a damaged merged index are found by the indexes of
// the packs, and the file is quarantined.
func TestDamagedMergedIndexCostsNothing(t *testing.T) {
	dir := t.TempDir()
	s := open(t, small(dir))
	for i := range sampleRecords {
		mustPut(t, s, record(i))
	}
	mergeNow(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, mergedFile)
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(sound); at += 3 {
		b := bytes.Clone(sound)
		b[at] ^= 1 << (at % 8)
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		s := open(t, small(dir))
		for i := range sampleRecords {
			if err := holds(s, i); err != nil {
				t.Fatalf("byte %d of %d: %v", at, len(sound), err)
			}
		}
		if _, err := os.Stat(path); err == nil {
			t.Fatalf("byte %d: the file is still there", at)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMergedIndexIsDoneWithout checks that a file that is not a merged index is quarantined.
func TestMergedIndexIsDoneWithout(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"empty":       func(path string) error { return os.WriteFile(path, nil, 0o666) },
		"short":       func(path string) error { return os.WriteFile(path, []byte("LARDMRG\x01"), 0o666) },
		"a directory": func(path string) error { return os.Mkdir(path, 0o777) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := sample(t)
			path := filepath.Join(dir, mergedFile)
			if err := errors.Join(os.RemoveAll(path), make(path)); err != nil {
				t.Fatal(err)
			}
			s := open(t, small(dir))
			for i := range sampleRecords {
				if err := holds(s, i); err != nil {
					t.Error(err)
				}
			}
			mergeNow(s)
			if n := apart(s); n != 0 {
				t.Errorf("%d records are apart after a merge", n)
			}
		})
	}
}

// TestMergedRecordsGoWithTheirPack checks that the records of a removed pack are gone, and no earlier ones come back.
func TestMergedRecordsGoWithTheirPack(t *testing.T) {
	dir := t.TempDir()
	s := open(t, small(dir))
	for i := range 60 {
		mustPut(t, s, record(i))
	}
	mergeNow(s)
	if _, err := s.Collect(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Store{s, open(t, small(dir))} {
		if u, err := s.Usage(t.Context()); err != nil || u.Records != 0 {
			t.Errorf("%d records, %v", u.Records, err)
		}
		if _, err := s.Get(t.Context(), storetest.Key(1)); !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
	}
}

// TestCollectCountsTheMergedIndex checks that the directory with the merged index stays within the limit, without
// needless evictions.
func TestCollectCountsTheMergedIndex(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir, PackBytes: 16 << 10, MaxBytes: -1})
	for i := range 2000 {
		mustPut(t, s, store.Record{Key: storetest.Key(i), Payload: storetest.Payload(uint64(i), 100)})
	}
	mergeNow(s)
	const limit = 300 << 10
	if _, err := s.Collect(t.Context(), limit); err != nil {
		t.Fatal(err)
	}
	u, err := s.Usage(t.Context())
	if err != nil || u.Bytes > limit || u.Bytes < limit*9/10 {
		t.Errorf("%d bytes are left of %d, %v", u.Bytes, limit, err)
	}
	if s.mergedSize() < u.Records*format.MergedEntrySize {
		t.Errorf("a merged index of %d bytes for %d records", s.mergedSize(), u.Records)
	}
}

// TestMergesAgreeWithAModel checks that two handles on a directory find the latest records and nothing deleted, after
// random operations in any order.
func TestMergesAgreeWithAModel(t *testing.T) {
	for _, seed := range testrand.Some(t, 15, 3) {
		random := rand.New(rand.NewPCG(uint64(seed), 0))
		o := Options{Dir: t.TempDir(), PackBytes: 6 << 10, BlobBytes: 1 << 10, MaxBytes: -1, Logger: quiet}
		stores := []*Store{open(t, o), open(t, o)}
		model := make(map[key.Key][]byte)
		for step := range 300 {
			i := random.IntN(len(stores))
			s, k := stores[i], storetest.Key(random.IntN(40))
			var err error
			switch what := random.IntN(20); {
			case what < 9:
				var records []store.Record
				for n := range 1 + random.IntN(12)*(what%2) {
					k, payload := storetest.Key(random.IntN(40)), storetest.Payload(uint64(step), random.IntN(1200)>>(n%2*3))
					model[k] = payload
					records = append(records, store.Record{Key: k, Payload: payload})
				}
				err = s.Put(t.Context(), records...)
			case what < 12:
				other := storetest.Key(random.IntN(40))
				delete(model, k)
				delete(model, other)
				err = s.Delete(t.Context(), k, other)
			case what < 15:
				mergeNow(s)
			case what < 16:
				_, err = s.Collect(t.Context(), 1<<40)
			case what < 18:
				err = s.Close()
				stores[i] = open(t, o)
			default:
				err = agrees(s, model)
			}
			if err != nil {
				t.Fatalf("seed %d, step %d: %v", seed, step, err)
			}
		}
		for _, s := range append(stores, open(t, o)) {
			if err := agrees(s, model); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
	}
}

func agrees(s *Store, model map[key.Key][]byte) error {
	s.refresh() // a hit may be a second old
	for i := range 40 {
		k := storetest.Key(i)
		got, err := s.Get(context.Background(), k)
		want, there := model[k]
		switch {
		case !there && errors.Is(err, store.ErrNotFound):
		case !there:
			return fmt.Errorf("record %d was deleted, and gives %d bytes, %w", i, len(got.Payload), err)
		case err != nil:
			return fmt.Errorf("record %d: %w", i, err)
		case !bytes.Equal(got.Payload, want):
			return fmt.Errorf("record %d is an earlier one", i)
		}
	}
	if stored := len(s.stored()); stored != len(model) {
		return fmt.Errorf("%d records are listed, %d are there", stored, len(model))
	}
	return nil
}
