package larder_test

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/key"
)

// onDisk opens a Larder over its own directory.
func onDisk(b *testing.B, memoryBytes int64) *larder.Larder {
	b.Helper()
	l, err := larder.Open(larder.Options{Dir: b.TempDir(), MemoryBytes: memoryBytes, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := l.Close(); err != nil {
			b.Error(err)
		}
	})
	return l
}

func get[T any](b *testing.B, l *larder.Larder, a *key.Action, v T) T { // no Helper: it takes longer than a hit
	got, err := larder.Do(b.Context(), l, a, func(context.Context) (T, error) { return v, nil })
	if err != nil {
		b.Fatal(err)
	}
	return got
}

const inMemory, diskOnly = 0, -1

// BenchmarkHitMemory finds a value in memory with an existing action.
func BenchmarkHitMemory(b *testing.B) {
	l := onDisk(b, inMemory)
	a := action(b, "f", 1)
	get(b, l, a, 42)
	compute := func(context.Context) (int, error) { return 42, nil }
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := larder.Do(ctx, l, a, compute); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHitMemoryWithKey does the same but creates the action each time.
func BenchmarkHitMemoryWithKey(b *testing.B) {
	l := onDisk(b, inMemory)
	op, err := key.NewOp("f", key.Version("1"))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		a, err := op.Call(1)
		if err != nil {
			b.Fatal(err)
		}
		get(b, l, a, 42)
	}
}

// BenchmarkHitDiskTiny reads a tiny value from disk.
func BenchmarkHitDiskTiny(b *testing.B) {
	l := onDisk(b, diskOnly)
	a := action(b, "f", 1)
	get(b, l, a, 42)
	b.ReportAllocs()
	for b.Loop() {
		get(b, l, a, 42)
	}
}

// BenchmarkHitDisk1MiB returns a checked and mapped 1 MiB array from disk, compared with reading the same bytes from a
// file.
func BenchmarkHitDisk1MiB(b *testing.B) {
	const n = 1 << 18
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(i)
	}
	v, err := array.From(values, n)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("larder", func(b *testing.B) {
		l := onDisk(b, diskOnly)
		a := action(b, "f", 1)
		get(b, l, a, v)
		b.SetBytes(int64(len(v.Data)))
		b.ReportAllocs()
		for b.Loop() {
			if got := get(b, l, a, v); len(got.Data) != len(v.Data) {
				b.Fatal("another array")
			}
		}
	})
	b.Run("readfile", func(b *testing.B) {
		path := filepath.Join(b.TempDir(), "array")
		if err := os.WriteFile(path, v.Data, 0o666); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(v.Data)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := os.ReadFile(path); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkColdTiny computes, stores and returns a tiny value.
func BenchmarkColdTiny(b *testing.B) {
	l := onDisk(b, diskOnly)
	op, err := key.NewOp("f", key.Version("1"))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		a, err := op.Call(n)
		if err != nil {
			b.Fatal(err)
		}
		get(b, l, a, n)
	}
}

// BenchmarkBatch requests 1000 tiny values, 900 of them cached: as a batch, compared with one call for each.
func BenchmarkBatch(b *testing.B) {
	const all = 1000
	op, err := key.NewOp("f", key.Version("1"))
	if err != nil {
		b.Fatal(err)
	}
	calls := func(b *testing.B, round int) (calls []larder.Call[int]) {
		b.Helper()
		for n := range all {
			args := []any{n}
			if n%10 == 0 {
				args = append(args, round)
			}
			a, err := op.Call(args...)
			if err != nil {
				b.Fatal(err)
			}
			calls = append(calls, larder.Call[int]{Action: a, Compute: func(context.Context) (int, error) { return n, nil }})
		}
		return calls
	}
	for _, how := range []string{"batch", "calls"} {
		b.Run(how, func(b *testing.B) {
			l := onDisk(b, diskOnly)
			b.ReportAllocs()
			for round := 0; b.Loop(); round++ {
				todo := calls(b, round)
				if how == "batch" {
					if _, errs := (larder.Batch[int]{Calls: todo}).Do(b.Context(), l); errs != nil {
						b.Fatal(errs)
					}
					continue
				}
				for _, c := range todo {
					if _, err := c.Do(b.Context(), l); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/all, "ns/value")
		})
	}
}
