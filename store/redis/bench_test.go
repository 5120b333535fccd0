package redis

import (
	"context"
	"fmt"
	"testing"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk"
	"github.com/larder-data/larder/store/memory"
	"github.com/larder-data/larder/store/storetest"
	"github.com/larder-data/larder/store/tier"
)

// BenchmarkRedis compares a store with a client that stores the same bytes in the same server, and with hits on a
// machine with and without a local copy on disk.
func BenchmarkRedis(b *testing.B) {
	server := startServer(b)
	const many = 200
	for _, size := range []int{100, 10_000, 500_000} {
		s := open(b, Options{URL: server.url(), Prefix: fmt.Sprint(size, ":"), MaxBytes: -1})
		ctx, keys, records := context.Background(), []key.Key{}, []store.Record{}
		for i := range many {
			keys = append(keys, storetest.Key(i))
			records = append(records, store.Record{Key: storetest.Key(i), Payload: storetest.Payload(uint64(i), size), Provenance: make([]byte, 100)})
			if err := server.client.Set(ctx, fmt.Sprint("plain", size, i), records[i].Payload, 0).Err(); err != nil {
				b.Fatal(err)
			}
		}
		run := func(name string, n int, f func(i int) error) {
			b.Run(fmt.Sprintf("%s/bytes=%d", name, size), func(b *testing.B) {
				b.SetBytes(int64(size * n))
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if err := f(i % many); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		run("Put", 1, func(i int) error { return s.Put(ctx, records[i]) })
		run("PlainSet", 1, func(i int) error {
			return server.client.Set(ctx, fmt.Sprint("plain", size, i), records[i].Payload, 0).Err()
		})
		if err := s.Put(ctx, records...); err != nil {
			b.Fatal(err)
		}
		run("Get", 1, func(i int) error { _, err := s.Get(ctx, keys[i]); return err })
		run("PlainGet", 1, func(i int) error { return server.client.Get(ctx, fmt.Sprint("plain", size, i)).Err() })
		if size < 500_000 {
			run("GetMany", many, func(int) error { _, err := s.GetMany(ctx, keys); return err })
			run("PlainPipeline", many, func(int) error {
				p := server.client.Pipeline()
				for i := range many {
					p.Get(ctx, fmt.Sprint("plain", size, i))
				}
				_, err := p.Exec(ctx)
				return err
			})
		}
		forgets := tier.Share(memory.New(memory.Options{MaxBytes: 1}), s)
		run("GetFar", 1, func(i int) error { _, err := forgets.Get(ctx, keys[i]); return err })
		near, err := disk.Open(disk.Options{Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		both := tier.Share(near, s)
		run("GetNear", 1, func(i int) error { _, err := both.Get(ctx, keys[i]); return err })
		if err := near.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLease(b *testing.B) {
	s := open(b, Options{URL: startServer(b).url()})
	for b.Loop() {
		release, err := s.Lease(context.Background(), storetest.Key(1))
		if err != nil {
			b.Fatal(err)
		}
		release()
	}
}
