package underfolder_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/format/underfolder"
	"github.com/larder-data/larder/pool"
)

// millionSamples creates a directory of a million samples of one empty file each, in memory
// if there is space.
func millionSamples(b *testing.B) (dir string, n int) {
	b.Helper()
	n = 1_000_000
	if testing.Short() {
		n = 10_000
	}
	parent := "/dev/shm"
	if _, err := os.Stat(parent); err != nil {
		parent = ""
	}
	dir, err := os.MkdirTemp(parent, "larder-bench-") //nolint:usetesting // on a file system in memory
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o777); err != nil {
		b.Fatal(err)
	}
	err = pool.New(0).Each(b.Context(), n, func(_ context.Context, i int) error {
		return os.WriteFile(filepath.Join(data, fmt.Sprintf("%06d_image.png", i)), nil, 0o666)
	})
	if err != nil {
		b.Fatal(err)
	}
	return dir, n
}

func BenchmarkMillionSamples(b *testing.B) {
	dir, n := millionSamples(b)
	b.Run("open", func(b *testing.B) {
		b.ReportAllocs()
		var held uint64
		for range b.N {
			before := heap()
			ds := open(b, dir)
			held += heap() - before
			if ds.Len() != n {
				b.Fatal(ds.Len())
			}
		}
		b.ReportMetric(float64(held)/float64(b.N)/float64(n), "held-B/sample")
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/sample")
	})
	b.Run("1000 at random", func(b *testing.B) {
		ds := open(b, dir)
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			random := rand.New(rand.NewPCG(1, 2))
			for range 1000 {
				s, err := ds.At(b.Context(), random.IntN(n))
				if err != nil {
					b.Fatal(err)
				}
				it, err := s.Item("image")
				if err != nil {
					b.Fatal(err)
				}
				if _, err := it.Bytes(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// heap returns the bytes in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkCopy writes files of one directory to another.
func BenchmarkCopy(b *testing.B) {
	const size, n = 1 << 20, 64
	files := map[string]string{}
	for i := range n {
		files[fmt.Sprintf("data/%02d_a.bin", i)] = string(make([]byte, size))
	}
	ds := open(b, directory(b, files))
	out := b.TempDir()
	b.SetBytes(n * size)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		b.StopTimer()
		os.RemoveAll(filepath.Join(out, fmt.Sprint(i-1)))
		b.StartTimer()
		writeCopy(b, underfolder.Sink{Path: component.Path(filepath.Join(out, fmt.Sprint(i)))}, ds)
	}
}
