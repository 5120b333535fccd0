// Package borrow tests mappers with images that a library lends. A process has libraries from
// its start or never, so this is a separate package.
package borrow

import (
	"context"
	"image"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/codec/native"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/mapper"
)

// photographs has JPEG files of many sizes: those of the corpus, with all kinds of chroma
// sampling, and noise.
func photographs(t *testing.T) [][]byte {
	t.Helper()
	if err := native.Use("jpeg"); err != nil {
		t.Skipf("the library for jpeg is not on this machine: %v", err)
	}
	names, err := filepath.Glob("../../codec/testdata/images/*.jpg")
	if err != nil || len(names) < 10 {
		t.Fatal(names, err)
	}
	var all [][]byte
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 40 {
		img := image.NewRGBA(image.Rect(0, 0, 1+random.IntN(300), 1+random.IntN(200)))
		for i := range img.Pix {
			img.Pix[i] = byte(random.Uint32()) | byte(i%4/3*255)
		}
		b, err := codec.EncodeJPEG(img, 90)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	return all
}

// resized returns a resized item, as its only reader.
func resized(ctx context.Context, it *dataset.Item, m mapper.ImageResize) (any, error) {
	transform, err := m.Transform()
	if err != nil {
		return nil, err
	}
	s, err := dataset.Map(dataset.List(dataset.NewSample(dataset.Field{Key: "image", Item: it})), transform, dataset.MapOptions{}).At(ctx, 0)
	if err != nil {
		return nil, err
	}
	return s.Value(ctx, "image")
}

// TestImagesAtOnce checks that images that many goroutines reduce concurrently equal the
// same images reduced alone.
func TestImagesAtOnce(t *testing.T) {
	files := photographs(t)
	ways := []mapper.ImageResize{{Width: 31}, {Width: 64, Height: 64}, {Width: 20, Reduce: 2}, {Height: 90, Filter: "lanczos"}, {Width: 50, Height: 9, Filter: "nearest"}}
	type one struct{ file, way int }
	want := map[one]any{}
	for i, b := range files {
		for k, way := range ways {
			it := dataset.NewBytes("jpg", b)
			if way.Reduce == 0 {
				if _, err := it.Value(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			v, err := resized(t.Context(), it, way)
			if err != nil {
				t.Fatal(err)
			}
			want[one{i, k}] = v
		}
	}
	var wait sync.WaitGroup
	for seed := range uint64(8) {
		wait.Go(func() {
			random := rand.New(rand.NewPCG(seed, 2))
			for range 200 {
				at := one{random.IntN(len(files)), random.IntN(len(ways))}
				it := dataset.NewBytes("jpg", files[at.file])
				got, err := resized(t.Context(), it, ways[at.way])
				if err != nil {
					t.Error(err)
					return
				}
				if !reflect.DeepEqual(got, want[at]) {
					t.Errorf("file %d by %+v has other pixels", at.file, ways[at.way])
					return
				}
			}
		})
	}
	wait.Wait()
}

// TestDamageIsAnError checks that missing parts of a file are not filled with pixels of
// another one.
func TestDamageIsAnError(t *testing.T) {
	for i, b := range photographs(t) {
		for _, m := range []mapper.ImageResize{{Width: 9}, {Width: 9, Reduce: 2}} {
			cut := b[:len(b)/2]
			_, plain := dataset.NewBytes("jpg", cut).Value(t.Context())
			if _, err := resized(t.Context(), dataset.NewBytes("jpg", cut), m); (err == nil) != (plain == nil) {
				t.Errorf("half of file %d is decoded: %v, and resized: %v", i, plain, err)
			}
		}
	}
}
