//go:build linux

package disk

import (
	"slices"
	"testing"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store/storetest"
)

// TestManyLeasesEndWithoutOthers: those that one caller took at once end together,
// and those of others in the same process stay, as another process sees it.
func TestManyLeasesEndWithoutOthers(t *testing.T) {
	dir := t.TempDir()
	s, other := open(t, Options{Dir: dir}), open(t, Options{Dir: dir})
	keys := func(from, to int) (all []key.Key) {
		for i := from; i < to; i++ {
			all = append(all, storetest.Key(i))
		}
		return all
	}
	try := func(s *Store, keys []key.Key) (lent []bool, release func()) {
		t.Helper()
		lent, release, err := s.TryLease(t.Context(), keys)
		if err != nil {
			t.Fatal(err)
		}
		return lent, release
	}
	free := func(want []bool) {
		t.Helper()
		lent, release := try(other, keys(0, 5))
		defer release()
		if !slices.Equal(lent, want) {
			t.Errorf("another process is lent %v, want %v", lent, want)
		}
	}
	one, err := s.Lease(t.Context(), storetest.Key(4))
	if err != nil {
		t.Fatal(err)
	}
	_, first := try(s, keys(0, 2))
	_, second := try(s, keys(2, 4))
	free([]bool{false, false, false, false, false})
	first()
	free([]bool{true, true, false, false, false})
	_, third := try(s, keys(0, 1))
	free([]bool{false, true, false, false, false})
	second()
	one()
	free([]bool{false, true, true, true, true})
	third()
	free([]bool{true, true, true, true, true})
	if n := s.leases.files(); n != 3 { // one for single keys, and one for each of two at a time
		t.Errorf("%d files are open for leases, want 3", n)
	}
}
