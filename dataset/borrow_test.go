package dataset

import (
	"bytes"
	"context"
	"image"
	"image/jpeg"
	"testing"

	"github.com/larder-data/larder/cache"
	"github.com/larder-data/larder/key"
)

// countedJPEG is an item of a photograph that counts how often it is decoded.
func countedJPEG(t *testing.T) (*Item, *counted) {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewRGBA(image.Rect(0, 0, 40, 30)), nil); err != nil {
		t.Fatal(err)
	}
	c := &counted{encoded: encoded{ext: "jpg", bytes: b.Bytes()}}
	return ItemFrom(c), c
}

// looker makes an item from a borrowed image.
func looker(t *testing.T, into string) Transform {
	t.Helper()
	m, err := NewTransform(TransformFunc{
		Name: "look", Code: key.Version("1"), In: []string{"image"}, Out: []string{into},
		Func: func(ctx context.Context, s Sample) (Sample, error) {
			it, err := s.Item("image")
			if err != nil {
				return Sample{}, err
			}
			v, whole, done, err := it.Borrow(ctx, image.Point{})
			if err != nil {
				return Sample{}, err
			}
			defer done()
			if size := v.(image.Image).Bounds().Size(); size != whole || size != image.Pt(40, 30) {
				t.Errorf("an image of %v, and the whole is %v", size, whole)
			}
			return NewSample(Field{Key: into, Item: NewItem("json", "seen")}), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestBorrowedIsNotRemembered checks that an image with a single reader is not held.
func TestBorrowedIsNotRemembered(t *testing.T) {
	item, _ := countedJPEG(t)
	valueOf(t, Map(List(NewSample(Field{Key: "image", Item: item})), looker(t, "image"), MapOptions{}), "image")
	if item.read {
		t.Error("the item remembers what was borrowed")
	}
}

// TestWhatOthersReadIsNotBorrowed checks that an image with several readers is decoded once:
// several transforms, readers of the sample, a cache, or an earlier reader.
func TestWhatOthersReadIsNotBorrowed(t *testing.T) {
	for name, read := range map[string]func(ds Dataset[Sample]){
		"two transforms": func(ds Dataset[Sample]) {
			ds = Map(Map(ds, looker(t, "seen"), MapOptions{}), looker(t, "image"), MapOptions{})
			s, err := ds.At(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range []string{"image", "seen"} {
				if _, err := s.Value(t.Context(), k); err != nil {
					t.Fatal(err)
				}
			}
		},
		"a reader of the sample": func(ds Dataset[Sample]) {
			s, err := Map(ds, looker(t, "seen"), MapOptions{}).At(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range []string{"seen", "image"} {
				if _, err := s.Value(t.Context(), k); err != nil {
					t.Fatal(err)
				}
			}
		},
		"a cache": func(ds Dataset[Sample]) {
			c, err := Cached(ds, cache.Options{Policy: "lru", Bytes: 1 << 30}, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				valueOf(t, Map(c, looker(t, "image"), MapOptions{}), "image")
			}
		},
		"an earlier reader": func(ds Dataset[Sample]) {
			valueOf(t, ds, "image")
			valueOf(t, Map(ds, looker(t, "image"), MapOptions{}), "image")
		},
	} {
		item, c := countedJPEG(t)
		read(List(NewSample(Field{Key: "image", Item: item})))
		if n := c.reads.Load(); n != 1 {
			t.Errorf("%s: the image was decoded %d times", name, n)
		}
	}
}
