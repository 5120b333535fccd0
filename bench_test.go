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

// onDisk opens a Larder over a folder of its own.
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

// BenchmarkHitMemory finds a value in memory by an action made beforehand.
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

// BenchmarkHitMemoryWithKey is the same with the action made each time.
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

// BenchmarkHitDisk1MiB hands out a 1 MiB array from disk, checked and mapped,
// beside reading the same bytes from a file.
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

// BenchmarkColdTiny computes, keeps and hands out a tiny value.
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
