//go:build unix

package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk/internal/vfs"
	"github.com/larder-data/larder/store/storetest"
)

// BenchmarkReadFile1MiB reads the same bytes into memory, for comparison with mapping.
func BenchmarkReadFile1MiB(b *testing.B) {
	s := open(b, Options{Dir: b.TempDir()})
	payload := storetest.Payload(1, 1<<20)
	if err := s.Put(b.Context(), store.Record{Key: storetest.Key(1), Payload: payload}); err != nil {
		b.Fatal(err)
	}
	path := s.blobPath(key.DigestOf(payload))
	b.SetBytes(1 << 20)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := os.ReadFile(path); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchmarkOpen(b, n) })
	}
}

func benchmarkOpen(b *testing.B, n int) {
	dir := b.TempDir()
	s, err := Open(Options{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	payload := storetest.Payload(1, 100)
	for i := range n {
		if err := s.Put(b.Context(), store.Record{Key: storetest.Key(i), Payload: payload}); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		s, err := Open(Options{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(apart(s)), "read")
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPutBlob1MiB(b *testing.B) {
	s := open(b, Options{Dir: b.TempDir(), MaxBytes: 1 << 30})
	payload := storetest.Payload(1, 1<<20)
	b.SetBytes(1 << 20)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		payload[0], payload[1], payload[2] = byte(i), byte(i>>8), byte(i>>16)
		if err := s.Put(b.Context(), store.Record{Key: storetest.Key(i % 1000), Payload: payload}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSmall measures small results, one record per operation, written separately and in groups.
func BenchmarkSmall(b *testing.B) {
	const many = 256
	puts := map[string]func(*Store, []store.Record) error{
		"single": func(s *Store, records []store.Record) (err error) {
			for i := range records {
				err = errors.Join(err, s.Put(b.Context(), records[i]))
			}
			return err
		},
		"many": func(s *Store, records []store.Record) error { return s.Put(b.Context(), records...) },
	}
	gets := map[string]func(*Store, []key.Key) error{
		"single": func(s *Store, keys []key.Key) (err error) {
			for _, k := range keys {
				_, one := s.Get(b.Context(), k)
				err = errors.Join(err, one)
			}
			return err
		},
		"many": func(s *Store, keys []key.Key) error {
			records, err := s.GetMany(b.Context(), keys)
			if err == nil && records[len(keys)-1].Key != keys[len(keys)-1] {
				err = store.ErrNotFound
			}
			return err
		},
	}
	for _, how := range []string{"single", "many"} {
		b.Run("Put/"+how, func(b *testing.B) {
			s := open(b, Options{Dir: b.TempDir(), MaxBytes: -1})
			records := similarFrom(0, many)
			b.ReportAllocs()
			for i := 0; i < b.N; i += many {
				for j := range records { // new keys without the cost of a hash
					binary.LittleEndian.PutUint64(records[j].Key[1:], uint64(i+j))
				}
				if err := puts[how](s, records); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			if err := s.writer.release(); err != nil {
				b.Fatal(err)
			}
			held, err := vfs.TreeSize(s.files.Path(vfs.Packs))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(held)/float64((b.N+many-1)/many*many), "disk-B/op")
		})
	}
	for _, put := range []string{"single", "many"} {
		for _, get := range []string{"single", "many"} {
			b.Run("Get/"+get+"/put/"+put, func(b *testing.B) {
				s := open(b, Options{Dir: b.TempDir(), MaxBytes: -1})
				const stored = 64 * many
				keys := make([]key.Key, stored)
				for i := 0; i < stored; i += many {
					records := similarFrom(i, many)
					for j := range records {
						keys[i+j] = records[j].Key
					}
					if err := puts[put](s, records); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportAllocs()
				b.ResetTimer()
				for i := 0; i < b.N; i += many {
					if err := gets[get](s, keys[i%stored:][:many]); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkPutAtCap puts blocks concurrently into a full store, as for files at URLs. A part of the reads are hits. It
// also reports the waits for the medium, the longest Put, and the largest excess over the limit.
func BenchmarkPutAtCap(b *testing.B) {
	for _, limit := range []int64{8 << 20, 128 << 20, -1} {
		b.Run(fmt.Sprintf("limit=%dMiB", limit>>20), func(b *testing.B) { benchmarkPutAtCap(b, limit) })
	}
}

func benchmarkPutAtCap(b *testing.B, limit int64) {
	const size, known = 64 << 10, 20_000
	var syncs, longest, over atomic.Int64
	s, err := openOn(Options{Dir: b.TempDir(), MaxBytes: limit}, func(op vfs.Op, _ string) error {
		if op == vfs.OpSync {
			syncs.Add(1)
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	payload := storetest.Payload(1, size)
	put := func(i int) {
		if err := s.Put(b.Context(), store.Record{Key: storetest.Key(i), Payload: payload, Cost: 20 * time.Millisecond}); err != nil {
			b.Error(err)
		}
	}
	for i := range limit / size {
		put(int(i))
	}
	b.SetBytes(size)
	syncs.Store(0)
	longest.Store(0)
	b.SetParallelism(16)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			i := rand.IntN(known)
			if _, err := s.Get(b.Context(), storetest.Key(i)); err == nil {
				continue
			}
			began := time.Now()
			put(i)
			most(&longest, int64(time.Since(began)))
			most(&over, s.space.held.Load()-s.limit)
		}
	})
	b.ReportMetric(float64(syncs.Load())/float64(b.N), "syncs/op")
	b.ReportMetric(float64(longest.Load())/1e6, "longest-ms")
	if limit > 0 {
		b.ReportMetric(100*float64(over.Load())/float64(limit), "%over")
	}
}

// most raises a number to n if it is lower.
func most(of *atomic.Int64, n int64) {
	for old := of.Load(); old < n && !of.CompareAndSwap(old, n); old = of.Load() {
	}
}
