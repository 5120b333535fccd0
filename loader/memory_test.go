package loader_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/loader"
	"github.com/larder-data/larder/pool"
)

// TestMemoryIsUsedAgain checks that released batches return their memory for reuse.
func TestMemoryIsUsedAgain(t *testing.T) {
	var firsts sync.Map
	var n atomic.Int32
	l, err := loader.New(loader.Options{Data: []loader.Data{bytesOf(64, 1<<16)}, Plan: loader.PlanOptions{Batch: loader.BatchOptions{Size: 8}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Read(t.Context(), loader.ReadOptions{Epochs: 20, Ahead: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 20 {
		for b, err := range r.Batches(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			n.Add(1)
			firsts.Store(&b.Data[0], true)
			b.Release()
			b.Release() // one release is enough
		}
	}
	buffers := 0
	firsts.Range(func(any, any) bool { buffers++; return true })
	if int(n.Load()) != 160 || buffers > 80 {
		t.Errorf("%d batches in %d buffers", n.Load(), buffers)
	}
}

// TestLittleMemoryIsEnough checks that readers that share samples finish with a pool of
// fewer bytes than one sample takes.
func TestLittleMemoryIsEnough(t *testing.T) {
	const n, size = 24, 100 << 10
	dir := t.TempDir()
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i, ".bin")), bytes.Repeat([]byte{byte(i)}, size), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	data := dataset.Func(n, func(_ context.Context, i int) (dataset.Sample, error) {
		return dataset.NewSample(dataset.Field{Key: "x", Item: dataset.File(filepath.Join(dir, fmt.Sprint(i, ".bin")), nil)}), nil
	})
	l, err := loader.New(loader.Options{Data: []loader.Data{data}, Pool: pool.NewBounded(2, size/2), Plan: loader.PlanOptions{Order: loader.Shuffled, Batch: loader.BatchOptions{Size: 4}}})
	if err != nil {
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			r, err := l.Read(t.Context(), loader.ReadOptions{Epochs: 2, AheadBytes: 1})
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Close()
			for range 2 {
				seen := 0
				for b, err := range r.Batches(t.Context()) {
					if err != nil {
						t.Error(err)
						return
					}
					pieces, err := b.Pieces("x")
					if err != nil {
						t.Error(err)
						return
					}
					for k, s := range b.Samples {
						if seen++; len(pieces[k]) != size || pieces[k][size-1] != byte(s.Index) {
							t.Errorf("sample %d has %d bytes, the last one %d", s.Index, len(pieces[k]), pieces[k][size-1])
						}
					}
					b.Release()
				}
				if seen != n {
					t.Errorf("%d samples", seen)
				}
			}
		})
	}
	readers.Wait()
}
