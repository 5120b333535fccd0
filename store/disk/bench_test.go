//go:build unix

package disk

import (
	"fmt"
	"os"
	"testing"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/storetest"
)

// What mapping is measured against: the same bytes read into memory.
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
