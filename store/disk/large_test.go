//go:build unix

package disk

import (
	"sync"
	"testing"

	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/storetest"
)

// TestRecordsLargerThanTheSpace checks concurrent records that fit only alone, or not at all. Each is handled in turn,
// also if nothing can be evicted for it.
func TestRecordsLargerThanTheSpace(t *testing.T) {
	for _, blobBytes := range []int64{1 << 20, 1000} {
		o := Options{Dir: t.TempDir(), MaxBytes: 200_000, BlobBytes: blobBytes}
		s := open(t, o)
		fill(t, s, 0)
		var wait sync.WaitGroup
		for i, bytes := range []int{30_000, 150_000, 199_000, 500_000, 500_000, 20_000} {
			wait.Go(func() {
				r := store.Record{Key: storetest.Key(1000 + i), Payload: storetest.Payload(uint64(i), bytes)}
				if err := s.Put(t.Context(), r); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		wantWithin(t, o)
	}
	s := open(t, Options{Dir: t.TempDir(), MaxBytes: 200_000})
	if err := s.Put(t.Context(), store.Record{Key: storetest.Key(1), Payload: storetest.Payload(1, 900_000)}); err != nil {
		t.Error(err)
	}
}
