package lazy_test

import (
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/lazy"
)

// openStore opens a Larder without memory, so that hits come from disk.
func openStore(b *testing.B, dir string) *larder.Larder {
	b.Helper()
	l, err := larder.Open(larder.Options{Dir: dir, MemoryBytes: -1})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = l.Close() })
	return l
}

func chain(n int) lazy.Value[int] {
	v := lazy.Of(1)
	for range n {
		v = halve(v)
	}
	return v
}

// BenchmarkChain1000Warm builds a chain of 1000 nodes and requests its root, which is stored on disk.
func BenchmarkChain1000Warm(b *testing.B) {
	l := openStore(b, b.TempDir())
	get(b, l, chain(1000))
	b.ReportAllocs()
	for b.Loop() {
		get(b, l, chain(1000))
	}
}

// BenchmarkChain1000Cold computes and stores all of its nodes.
func BenchmarkChain1000Cold(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		l := openStore(b, b.TempDir())
		b.StartTimer()
		get(b, l, chain(1000))
	}
}

// BenchmarkTinyWarm makes a node and requests its value, a few bytes on disk.
func BenchmarkTinyWarm(b *testing.B) {
	l := openStore(b, b.TempDir())
	get(b, l, sq(lazy.Of(7)))
	b.ReportAllocs()
	for b.Loop() {
		get(b, l, sq(lazy.Of(7)))
	}
}

// BenchmarkTinyInMemory does the same with the value in memory.
func BenchmarkTinyInMemory(b *testing.B) {
	l := open(b, b.TempDir())
	get(b, l, sq(lazy.Of(7)))
	b.ReportAllocs()
	for b.Loop() {
		get(b, l, sq(lazy.Of(7)))
	}
}

// BenchmarkArgument1MiBWarm passes an argument of 1 MiB, which is hashed each time.
func BenchmarkArgument1MiBWarm(b *testing.B) {
	l := openStore(b, b.TempDir())
	big := make([]float64, 1<<17)
	for i := range big {
		big[i] = float64(i)
	}
	get(b, l, total(lazy.Of(big)))
	b.ReportAllocs()
	b.SetBytes(1 << 20)
	for b.Loop() {
		get(b, l, total(lazy.Of(big)))
	}
}

// BenchmarkBuild1e6 builds, names and computes a million nodes without storing any.
func BenchmarkBuild1e6(b *testing.B) {
	l := open(b, b.TempDir())
	b.ReportAllocs()
	for b.Loop() {
		all := make([]lazy.Value[int], 1_000_000)
		for i := range all {
			all[i] = cheap(lazy.Of(i))
		}
		get(b, l, lazy.Slice(all...))
	}
}
