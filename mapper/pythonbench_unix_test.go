//go:build unix

package mapper_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/testing/pythontest"
	"github.com/larder-data/larder/mapper"
	"github.com/larder-data/larder/pool"
)

// BenchmarkPython calls a Python function with arrays that it returns unchanged, without
// caching: the cost of the round trip of a sample. The processor time is that of this
// process.
func BenchmarkPython(b *testing.B) {
	pythontest.Need(b)
	if exec.CommandContext(b.Context(), os.Getenv("LARDER_PYTHON"), "-c", "import numpy").Run() != nil {
		b.Skip("the Python of this machine has no NumPy")
	}
	held := make([]byte, 128<<20) // as the program does, so that garbage collections are rare
	defer runtime.KeepAlive(held)
	dir := b.TempDir()
	source := "def f(a): return a\ndef one(a): return float(a[0])\ndef f8(a): return a\n"
	if err := os.WriteFile(filepath.Join(dir, "f.py"), []byte(source), 0o666); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		bytes int
		m     mapper.Python
		alone bool // each sample is requested separately
		two   bool // two workers
	}{
		{"1KB", 1 << 10, mapper.Python{Function: "f:f"}, false, false},
		{"1KB alone", 1 << 10, mapper.Python{Function: "f:f"}, true, false},
		{"100KB", 100 << 10, mapper.Python{Function: "f:f"}, false, false},
		{"100KB two workers", 100 << 10, mapper.Python{Function: "f:f"}, false, true},
		{"100KB to number two workers", 100 << 10, mapper.Python{Function: "f:one"}, false, true},
		{"100KB alone", 100 << 10, mapper.Python{Function: "f:f"}, true, false},
		{"100KB to number", 100 << 10, mapper.Python{Function: "f:one"}, false, false},
		{"100KB batch=8", 100 << 10, mapper.Python{Function: "f:f8", Batch: 8}, false, false},
		{"10MB", 10 << 20, mapper.Python{Function: "f:f"}, false, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			a, err := array.New(array.Float32, []int{c.bytes / 4}, nil)
			if err != nil {
				b.Fatal(err)
			}
			ending := &component.Cleanup{}
			defer ending.Wait()
			c.m.Items, c.m.Into = []string{"a"}, []string{"out"}
			transform, err := c.m.Transform(&component.Env{Dir: dir, Node: "n", Pool: pool.New(2), Cleanup: ending})
			if err != nil {
				b.Fatal(err)
			}
			in := dataset.Func(1<<30, func(_ context.Context, i int) (dataset.Sample, error) {
				return dataset.NewSample(dataset.Field{Key: "a", Item: dataset.NewItem("npy", a)}), nil
			})
			ds := dataset.Map(in, transform, dataset.MapOptions{Node: "n"})
			get := func(n int) {
				if c.alone {
					for i := range n {
						value(b, ds, i)
					}
					return
				}
				workers := 1
				if c.two {
					workers = 2
				}
				err := pool.New(workers).AtLeast(c.m.Batch).Ranges(b.Context(), n, func(ctx context.Context, from, to int) (int, error) {
					samples, err := dataset.RangesOf(ds).Range(ctx, from, to)
					for _, s := range samples {
						if _, err := s.Value(ctx, "out"); err != nil {
							return 0, err
						}
					}
					return len(samples), err
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			get(max(1, c.m.Batch)) // starts the worker
			b.SetBytes(int64(c.bytes))
			b.ReportAllocs()
			start := processorTime(b)
			b.ResetTimer()
			get(b.N)
			b.StopTimer()
			b.ReportMetric(float64(processorTime(b)-start)/float64(b.N), "cpu-ns/op")
		})
	}
}

func value(b *testing.B, ds component.Samples, i int) {
	s, err := ds.At(b.Context(), i)
	if err == nil {
		_, err = s.Value(b.Context(), "out")
	}
	if err != nil {
		b.Fatal(fmt.Errorf("sample %d: %w", i, err))
	}
}
