//go:build unix

package disk

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk/internal/format"
	"github.com/larder-data/larder/store/disk/internal/vfs"
	"github.com/larder-data/larder/store/storetest"
)

// perPack is the number of ten-kilobyte records per pack of scattered.
const perPack = 12

// scattered opens a full store of packs in which the records chosen by cheap have the lowest cost. Nothing is evicted
// automatically.
func scattered(t *testing.T, fail vfs.Fail, cheap func(pack, i int) bool) (s *Store, packs []string) {
	t.Helper()
	s, err := openOn(Options{Dir: t.TempDir(), MaxBytes: 2_000_000, PackBytes: 125_000}, fail)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	s.space.due = true // so housekeep does not evict as well
	for p := range 16 {
		for i := range perPack {
			r := store.Record{Key: storetest.Key(p*perPack + i), Payload: storetest.Payload(uint64(p*perPack+i), 10_000), Cost: time.Second}
			if cheap(p, i) {
				r.Cost = time.Microsecond
			}
			if err := s.Put(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		s.writer.mu.Lock()
		packs = append(packs, s.writer.pack.path)
		err := s.writer.leave(true)
		s.writer.mu.Unlock()
		if err != nil {
			t.Fatal(err)
		}
	}
	return s, packs
}

// holding returns the number of bytes in the store.
func holding(t *testing.T, s *Store) int64 {
	t.Helper()
	n, err := s.measure()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestEvictionLeavesWhatIsMostlyAlive checks that an eviction does not move records only to reclaim dead bytes between
// them, if it frees half of the wanted bytes without. Collect frees all.
func TestEvictionLeavesWhatIsMostlyAlive(t *testing.T) {
	s, packs := scattered(t, nil, func(pack, i int) bool { return pack == 0 && i > 1 || i == 0 })
	if held := holding(t, s); held < s.limit-s.limit/20 {
		t.Fatalf("%d bytes are held of %d: nothing is to be evicted", held, s.limit)
	}
	s.evict(t.Context(), 0)
	if held := holding(t, s); held > s.limit-s.limit/20 {
		t.Errorf("%d bytes are left of %d", held, s.limit)
	}
	for i, path := range packs {
		if _, err := s.files.Lstat(path); (err == nil) != (i > 0) {
			t.Errorf("pack %d: %v", i, err)
		}
	}
	target := s.limit - s.limit/5
	if _, err := s.Collect(t.Context(), target); err != nil {
		t.Fatal(err)
	}
	if held := holding(t, s); held > target {
		t.Errorf("%d bytes are left after Collect of %d", held, target)
	}
}

// best returns the number of records with the highest value in each pack.
const best = 3

// holdsBest reports whether a pack is known to hold such a record.
func holdsBest(s *Store, path string) bool {
	for i := range 16 * perPack {
		_, p, ok := s.index.find(format.Fingerprint(storetest.Key(i)))
		if ok && i%perPack < best && p.path == path {
			return true
		}
	}
	return false
}

// TestEvictionIsSafeInFewWaits checks that no pack is removed before its moved records are durable, with fewer syncs
// than removed packs.
func TestEvictionIsSafeInFewWaits(t *testing.T) {
	var unsafe map[string]bool // files written since their last sync
	removed, syncs := 0, 0
	var s *Store
	var packs []string
	s, packs = scattered(t, func(op vfs.Op, path string) error {
		switch pack := filepath.Ext(path) == packSuffix; {
		case unsafe == nil: // not yet
		case op == vfs.OpWrite && pack:
			unsafe[path] = true
		case op == vfs.OpSync && pack:
			delete(unsafe, path)
			syncs++
		case op == vfs.OpRemove && pack:
			removed++
			if len(unsafe) > 0 || holdsBest(s, path) {
				t.Errorf("%s goes while what moved is not safe", filepath.Base(path))
			}
		}
		return nil
	}, func(_, i int) bool { return i >= best })
	unsafe = map[string]bool{}
	if _, err := s.Collect(t.Context(), s.limit/4); err != nil {
		t.Fatal(err)
	}
	if removed != len(packs) || syncs == 0 || syncs >= removed {
		t.Errorf("%d of %d packs went, with %d waits", removed, len(packs), syncs)
	}
	wantBest(t, s)
}

// TestEvictionThatFailsLosesNothing checks that records are found afterwards, by this and the next process, wherever the
// medium fails during a move.
func TestEvictionThatFailsLosesNothing(t *testing.T) {
	failed := true
	for after := 0; failed; after++ {
		failed = false
		left := -1 // operations until one fails; below 0 none does
		s, _ := scattered(t, func(op vfs.Op, path string) error {
			if left < 0 || op != vfs.OpWrite && op != vfs.OpSync || filepath.Ext(path) != packSuffix {
				return nil
			}
			left--
			if failed = left < 0; failed {
				return syscall.EIO
			}
			return nil
		}, func(_, i int) bool { return i >= best })
		left = after
		if _, err := s.Collect(t.Context(), s.limit/4); failed != (err != nil) {
			t.Errorf("operation %d failed: %v, and Collect: %v", after, failed, err)
		}
		left = -1
		wantBest(t, s)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		wantBest(t, open(t, Options{Dir: s.files.Dir}))
		if after > 1000 {
			t.Fatal("there is no end of operations that fail")
		}
	}
}

// wantBest checks that all records with the highest value exist.
func wantBest(t *testing.T, s *Store) {
	t.Helper()
	for i := range 16 * perPack {
		if ok, err := s.Has(t.Context(), storetest.Key(i)); err != nil || !ok && i%perPack < best {
			t.Errorf("record %d, which is worth most, is gone: %v", i, err)
		}
	}
}
