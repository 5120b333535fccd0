//go:build unix

package disk

import (
	"log/slog"
	"testing"

	"go.uber.org/goleak"

	"github.com/larder-data/larder/internal/testing/mountns"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/storetest"
)

func TestMain(m *testing.M) {
	if role := childRole(); role != nil {
		role()
		return
	}
	mountns.Enter()
	goleak.VerifyTestMain(m)
}

// quiet is the logger of tests that cause damage.
var quiet = slog.New(slog.DiscardHandler)

// open opens a store that is closed with the test.
func open(tb testing.TB, o Options) *Store {
	tb.Helper()
	s, err := Open(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("Close: %v", err)
		}
	})
	return s
}

func dirs(o Options) storetest.Medium {
	return func(tb testing.TB) func() store.Store {
		o := o
		o.Dir = tb.TempDir()
		return func() store.Store {
			s, err := Open(o)
			if err != nil {
				tb.Fatal(err)
			}
			return s
		}
	}
}

func TestConformance(t *testing.T) { storetest.Run(t, dirs(Options{})) }

// TestConformanceSmall uses small packs and blobs, which are finished, adopted, moved and swept all the time.
func TestConformanceSmall(t *testing.T) {
	storetest.Run(t, dirs(Options{PackBytes: 4096, BlobBytes: 2000, MaxBytes: -1}))
}

func BenchmarkStore(b *testing.B) { storetest.Bench(b, dirs(Options{MaxBytes: -1})) }
