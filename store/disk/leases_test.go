//go:build linux

package disk

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store/disk/internal/format"
	"github.com/larder-data/larder/store/disk/internal/vfs"
	"github.com/larder-data/larder/store/storetest"
)

func try(t *testing.T, s *Store, keys ...key.Key) (leased []bool, release func()) {
	t.Helper()
	leased, release, err := s.TryLease(t.Context(), keys)
	if err != nil {
		t.Fatal(err)
	}
	return leased, release
}

// TestManyLeasesEndWithoutOthers checks that leases acquired together end together. Other leases of the same process
// stay, as seen by another process.
func TestManyLeasesEndWithoutOthers(t *testing.T) { eachKeyLocker(t, testManyLeases) }

func testManyLeases(t *testing.T, fail vfs.Fail) {
	dir := t.TempDir()
	s, other := openBy(t, dir, fail), openBy(t, dir, fail)
	keys := func(from, to int) (all []key.Key) {
		for i := from; i < to; i++ {
			all = append(all, storetest.Key(i))
		}
		return all
	}
	free := func(want []bool) {
		t.Helper()
		leased, release := try(t, other, keys(0, 5)...)
		defer release()
		if !slices.Equal(leased, want) {
			t.Errorf("another process is leased %v, want %v", leased, want)
		}
	}
	one, err := s.Lease(t.Context(), storetest.Key(4))
	if err != nil {
		t.Fatal(err)
	}
	_, first := try(t, s, keys(0, 2)...)
	_, second := try(t, s, keys(2, 4)...)
	free([]bool{false, false, false, false, false})
	first()
	free([]bool{true, true, false, false, false})
	_, third := try(t, s, keys(0, 1)...)
	free([]bool{false, true, false, false, false})
	second()
	one()
	free([]bool{false, true, true, true, true})
	third()
	free([]bool{true, true, true, true, true})
	want := 2 // whatever is taken
	if s.leases.table == nil {
		want = 3 // one for single keys, and one for each of two concurrent sets
	}
	if n := s.leases.files(); n != want {
		t.Errorf("%d files are open for leases, want %d", n, want)
	}
}

// table returns the table of a store with a lease.
func table(t *testing.T, s *Store) *byTable {
	t.Helper()
	_, release := try(t, s, storetest.Key(0))
	release()
	if s.leases.table == nil {
		t.Skip("this file system has no table of leases")
	}
	return s.leases.table
}

// TestKeysOfOneWord checks that keys of one word are leased separately, and leave the word unchanged, whichever ends
// first.
func TestKeysOfOneWord(t *testing.T) {
	dir := t.TempDir()
	a, b := openBy(t, dir, nil), openBy(t, dir, nil)
	w := table(t, a).word(format.Fingerprint(ofOneWord()[0]))
	k := ofOneWord()
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}} {
		var ends []func()
		for i, s := range []*Store{a, b, a} {
			leased, release := try(t, s, k[i])
			if !leased[0] {
				t.Fatalf("key %d is not leased", i)
			}
			ends = append(ends, release)
		}
		held := []bool{true, true, true, false, false, false}
		for _, ended := range append(order, -1) {
			for _, s := range []*Store{a, b} {
				together, release := try(t, s, k...)
				release()
				for i := range k {
					alone, release := try(t, s, k[i])
					release()
					if alone[0] == held[i] || together[i] == held[i] {
						t.Errorf("order %v, before %d ends: key %d is leased %v alone, %v with others", order, ended, i, alone[0], together[i])
					}
				}
			}
			if ended >= 0 {
				ends[ended]()
				held[ended] = false
			}
		}
		if v := w.Load(); v != 0 {
			t.Errorf("order %v leaves %#x in the word", order, v)
		}
	}
}

// TestSlotsRunOut checks that a store without a slot still leases keys.
func TestSlotsRunOut(t *testing.T) {
	dir := t.TempDir()
	a, b := openBy(t, dir, nil), openBy(t, dir, nil)
	w := table(t, a).word(format.Fingerprint(ofOneWord()[0]))
	table(t, b).slot = noSlot
	k := ofOneWord()[:3]
	_, first := try(t, a, k[0])
	leased, second := try(t, b, k...)
	if !slices.Equal(leased, []bool{false, true, true}) {
		t.Errorf("in addition to key 0, %v are leased", leased)
	}
	first()
	if leased, release := try(t, a, k...); !slices.Equal(leased, []bool{true, false, false}) {
		t.Errorf("in addition to keys 1 and 2, %v are leased", leased)
	} else {
		release()
	}
	second()
	if v := w.Load(); v != 0 {
		t.Errorf("%#x is left in the word", v)
	}
}

// TestDamagedTable checks that each key is leased only once, whatever the file holds.
func TestDamagedTable(t *testing.T) {
	dir := t.TempDir()
	a, b := openBy(t, dir, nil), openBy(t, dir, nil)
	words := table(t, a).words
	table(t, b)
	for i := range words {
		fp := format.Fingerprint(storetest.Key(i))
		words[fp>>tagBits].Store(uint64(i)<<tagBits | fp&tagMask) // most with unused slots
	}
	var keys []key.Key
	for i := range 1000 {
		if uint64(i)<<tagBits&slotMask>>slotShift > 2 { // a and b live
			keys = append(keys, storetest.Key(i))
		}
	}
	for _, s := range []*Store{a, b} {
		leased, release := try(t, s, keys...)
		if slices.Contains(leased, false) {
			t.Error("not all keys are leased")
		}
		for _, other := range []*Store{a, b} {
			leased, none := try(t, other, keys...)
			none()
			if slices.Contains(leased, true) {
				t.Error("a key is leased twice")
			}
		}
		release()
	}
}

// TestOneWayOfLending checks that a store that cannot use the table leases by bytes, as do stores opened while it is
// open. If others use the table, it logs that it leases nothing to other processes.
func TestOneWayOfLending(t *testing.T) {
	dir := t.TempDir()
	k := storetest.Key(1)
	bytes := openBy(t, dir, mediaOf["bytes"])
	_, release := try(t, bytes, k)
	second := openBy(t, dir, nil)
	if leased, _ := try(t, second, k); leased[0] || second.leases.table != nil {
		t.Errorf("the second store leased %v, with table %v", leased, second.leases.table != nil)
	}
	release()

	dir = t.TempDir()
	table(t, openBy(t, dir, nil))
	var log strings.Builder
	late, err := openOn(Options{Dir: dir, Logger: slog.New(slog.NewTextHandler(&log, nil))}, mediaOf["bytes"])
	if err != nil {
		t.Fatal(err)
	}
	_, release = try(t, late, k)
	release()
	if !strings.Contains(log.String(), "cannot lock results against other processes") {
		t.Errorf("it says %q", &log)
	}
	if err := late.Close(); err != nil {
		t.Error(err)
	}
}

// TestLeasesEndWithTheStore checks that closing a store frees its leases, and that releasing one later does not release
// those of others.
func TestLeasesEndWithTheStore(t *testing.T) {
	eachKeyLocker(t, func(t *testing.T, fail vfs.Fail) {
		dir, k := t.TempDir(), ofOneWord()
		s, err := openOn(Options{Dir: dir}, fail)
		if err != nil {
			t.Fatal(err)
		}
		_, release := try(t, s, k[0], k[1])
		one, err := s.Lease(t.Context(), k[2])
		if err = errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		next, other := openBy(t, dir, fail), openBy(t, dir, fail)
		_, none := try(t, next, k[5]) // it now has the slot that s had
		none()
		if leased, _ := try(t, other, k[:3]...); slices.Contains(leased, false) {
			t.Errorf("after Close %v are leased", leased)
		}
		release()
		one()
		if leased, _ := try(t, next, k[:3]...); slices.Contains(leased, true) {
			t.Errorf("%v are leased twice", leased)
		}
	})
}
