package objectstore_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/larder-data/larder/objectstore"
	"github.com/larder-data/larder/objectstore/objectstoretest"
)

// BenchmarkStalls reads 64 KiB at a time from a server that takes 2 ms per answer, and 300 ms for one in a hundred.
func BenchmarkStalls(b *testing.B) {
	for name, once := range map[string]bool{"twice": false, "once": true} {
		b.Run(name, func(b *testing.B) {
			s := objectstoretest.Serve(b)
			objectstore.AskOnce.Store(once)
			url := s.Put("a", content(1<<20))
			f, err := objectstore.Open(b.Context(), url)
			if err != nil {
				b.Fatal(err)
			}
			s.Fail(func(n int, _ *http.Request) objectstoretest.Fault {
				if n%100 == 99 {
					return objectstoretest.Fault{Latency: 300 * time.Millisecond}
				}
				return objectstoretest.Fault{Latency: 2 * time.Millisecond}
			})
			var traffic objectstore.Traffic
			ctx := objectstore.Count(b.Context(), &traffic)
			part := make([]byte, 64<<10)
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				if err := f.ReadAt(ctx, part, 1000); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*995/1000].Microseconds())/1000, "p99.5-ms")
			b.ReportMetric(float64(traffic.Requests.Load())/float64(b.N), "requests/op")
		})
	}
}
