package flow_test

import (
	"context"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/pool"
	"github.com/larder-data/larder/store/disk"
	"github.com/larder-data/larder/store/memory"

	"github.com/larder-data/larder"
)

// repeated opens the letters, measured with the given options and repeated 100 times: 2600
// samples.
func repeated(b *testing.B, l *larder.Larder, options string) component.Samples {
	b.Helper()
	f := letters(b, `
  stats: {map: image-stats, from: letters`+options+`}
  many: {op: repeat, from: stats, with: {times: 100}}
`)
	d, err := f.Open(b.Context(), "many", flow.RunOptions{Larder: l})
	if err != nil {
		b.Fatal(err)
	}
	return d.Parts[0]
}

func readAll(b *testing.B, ds component.Samples, workers int) {
	b.Helper()
	err := pool.New(workers).Each(b.Context(), ds.Len(), func(ctx context.Context, i int) error {
		s, err := ds.At(ctx, i)
		if err != nil {
			return err
		}
		_, err = s.Value(ctx, "stats")
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkLettersWarm iterates over 2600 samples in memory, and reads an item of each.
func BenchmarkLettersWarm(b *testing.B) {
	ds := repeated(b, newLarder(b, memory.New(memory.Options{})), ", cache: {policy: memo}")
	readAll(b, ds, 1)
	b.ReportAllocs()
	for b.Loop() {
		for s, err := range dataset.All(b.Context(), ds) {
			if err != nil {
				b.Fatal(err)
			}
			if _, err := s.Value(b.Context(), "stats"); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkLettersCheckpoint reads the same 2600 items from a checkpoint on disk, decoding
// each again.
func BenchmarkLettersCheckpoint(b *testing.B) {
	s, err := disk.Open(disk.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	l, err := larder.Open(larder.Options{Store: s})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	ds := repeated(b, l, ", checkpoint: true")
	b.ReportAllocs()
	for b.Loop() {
		readAll(b, ds, 0)
	}
}

// BenchmarkLettersNoCache computes the item of each of the 2600 samples.
func BenchmarkLettersNoCache(b *testing.B) {
	ds := repeated(b, nil, "")
	b.ReportAllocs()
	for b.Loop() {
		readAll(b, ds, 0)
	}
}
