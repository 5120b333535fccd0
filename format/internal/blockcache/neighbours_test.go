package blockcache_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/larder-data/larder/format/internal/blockcache"
	"github.com/larder-data/larder/objectstore/objectstoretest"
	"github.com/larder-data/larder/pool"
)

// TestNeighboursAreNotLost checks that an unreadable block fails only its own readers, not
// those whose blocks were fetched with it.
func TestNeighboursAreNotLost(t *testing.T) {
	want := content(4 << 20)
	const bad = 33*blockcache.Bytes + 99
	for name, order := range map[string]func(all []int){
		"in order": func([]int) {},
		"shuffled": func(all []int) {
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := objectstoretest.Serve(t)
			f := keep(t, s.Put("a", want), engine(t, t.TempDir()))
			s.Fail(func(_ int, r *http.Request) objectstoretest.Fault {
				var first, last int
				if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &first, &last); err != nil {
					t.Error(err)
				}
				if first <= bad && bad <= last {
					return objectstoretest.Fault{Status: http.StatusForbidden}
				}
				return objectstoretest.Fault{}
			})
			all := samples(len(want))
			order(all)
			var failed atomic.Int64
			if err := pool.New(2).Each(t.Context(), len(all), func(ctx context.Context, i int) error {
				b, at := make([]byte, sample), all[i]
				err := f.ReadAt(ctx, b, int64(at))
				switch {
				case at <= bad && bad < at+sample:
					failed.Add(1)
					if err == nil {
						t.Error("what cannot be had was read")
					}
				case err != nil || !bytes.Equal(b, want[at:at+sample]):
					t.Errorf("the sample at %d: %v", at, err)
				}
				return nil
			}); err != nil || failed.Load() != 1 {
				t.Fatalf("%d failed, %v", failed.Load(), err)
			}
			if asked := len(s.Requests()); asked > 150 {
				t.Errorf("%d requests for %d samples in 64 blocks", asked, len(all))
			}
		})
	}
}

// TestAfterAnOutage checks that blocks next to a failed one are fetched separately for a
// while, and then together again.
func TestAfterAnOutage(t *testing.T) {
	want := content(4 << 20)
	order := samples(len(want))
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	requests := map[time.Duration]int{0: 0, time.Hour: 0}
	for wary := range requests {
		blockcache.WaryFor(t, wary)
		s := objectstoretest.Serve(t)
		f := keep(t, s.Put("a", want), engine(t, t.TempDir()))
		s.Fail(func(int, *http.Request) objectstoretest.Fault {
			return objectstoretest.Fault{Status: http.StatusForbidden}
		})
		for at := 0; at < len(want); at += 2 << 20 {
			if err := f.ReadAt(t.Context(), make([]byte, sample), int64(at)); err == nil {
				t.Error("what cannot be had was read")
			}
		}
		s.Fail(nil)
		s.Requests()
		reads(t, f, want, sample, order...)
		requests[wary] = len(s.Requests())
	}
	if requests[0] > 20 || requests[time.Hour] != 64 {
		t.Errorf("%d requests afterwards, and %d where it is left alone", requests[0], requests[time.Hour])
	}
}
