package blockcache_test

import (
	"bytes"
	"context"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/larder-data/larder/format/internal/blockcache"
	"github.com/larder-data/larder/objectstore/objectstoretest"
	"github.com/larder-data/larder/pool"
)

// TestWaitsSideBySide checks that one worker waits for many parts concurrently, whether
// they are stored or not. The server answers only after all requests have arrived.
func TestWaitsSideBySide(t *testing.T) {
	const many, apart = 30, 11 * blockcache.Bytes
	want := content(many * apart)
	for name, cached := range map[string]bool{"cached": true, "not cached": false} {
		t.Run(name, func(t *testing.T) {
			s := objectstoretest.Serve(t)
			url := s.Put("a", want)
			f := keep(t, url, nil)
			if cached {
				f = keep(t, url, engine(t, t.TempDir()))
			}
			var asked atomic.Int64
			all := make(chan struct{})
			s.Fail(func(int, *http.Request) objectstoretest.Fault {
				if asked.Add(1) == many {
					close(all)
				}
				<-all
				return objectstoretest.Fault{}
			})
			if err := pool.New(1).Each(t.Context(), many, func(ctx context.Context, i int) error {
				b, at := make([]byte, 1000), i*apart+77
				if err := f.ReadAt(ctx, b, int64(at)); err != nil {
					return err
				}
				if !bytes.Equal(b, want[at:at+len(b)]) {
					t.Errorf("other bytes at %d", at)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
}
