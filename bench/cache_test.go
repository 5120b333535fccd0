// Package bench provides benchmarks that compare Larder with other software. It is a
// separate module, so Larder does not depend on that software.
package bench

import (
	"sync/atomic"
	"testing"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/larder-data/larder/cache"
	"github.com/maypok86/otter/v2"
)

const entries = 1024

// store has the operations of all compared caches.
type store struct {
	get func(k int) bool
	put func(k int)
}

func stores(b *testing.B) map[string]store {
	b.Helper()
	all := map[string]store{}
	for _, policy := range cache.Policies() {
		c, err := cache.New[int, int](cache.Options{Policy: policy, Size: entries})
		if err != nil {
			b.Fatal(err)
		}
		all["larder-"+policy] = store{
			get: func(k int) bool { _, ok := c.Get(k); return ok },
			put: func(k int) { c.Put(k, k, 1, 0) },
		}
	}
	g, err := lru.New[int, int](entries)
	if err != nil {
		b.Fatal(err)
	}
	all["golang-lru"] = store{
		get: func(k int) bool { _, ok := g.Get(k); return ok },
		put: func(k int) { g.Add(k, k) },
	}
	o := otter.Must(&otter.Options[int, int]{MaximumSize: entries})
	all["otter"] = store{
		get: func(k int) bool { _, ok := o.GetIfPresent(k); return ok },
		put: func(k int) { o.Set(k, k) },
	}
	return all
}

// BenchmarkGetHit reads existing entries from one goroutine.
func BenchmarkGetHit(b *testing.B) {
	for name, s := range stores(b) {
		b.Run(name, func(b *testing.B) {
			for k := range entries {
				s.put(k)
			}
			b.ReportAllocs()
			k := 0
			for b.Loop() {
				s.get(k)
				k = (k + 1) % entries
			}
		})
	}
}

// BenchmarkGetHitParallel reads existing entries from one goroutine per processor.
func BenchmarkGetHitParallel(b *testing.B) {
	for name, s := range stores(b) {
		b.Run(name, func(b *testing.B) {
			for k := range entries {
				s.put(k)
			}
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for k := 0; pb.Next(); k = (k + 1) % entries {
					s.get(k)
				}
			})
		})
	}
}

// BenchmarkPutWhenFull puts new keys into a full cache.
func BenchmarkPutWhenFull(b *testing.B) {
	for name, s := range stores(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			k := 0
			for b.Loop() {
				s.put(k)
				k++
			}
		})
	}
}

// BenchmarkPutWhenFullParallel puts new keys from one goroutine per processor.
func BenchmarkPutWhenFullParallel(b *testing.B) {
	for name, s := range stores(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var next atomic.Int64
			b.RunParallel(func(pb *testing.PB) {
				const stride = 1 << 20
				first := int(next.Add(stride))
				for k := first; pb.Next(); k++ {
					s.put(k)
				}
			})
		})
	}
}
