package dataset

import (
	"context"
	"image"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/larder-data/larder/cache"
	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/key"
)

// smaller makes an image of one pixel from another, under the same name.
func smaller(t *testing.T) Transform {
	t.Helper()
	m, err := NewTransform(TransformFunc{
		Name: "smaller", Code: key.Version("1"), In: []string{"image"}, Out: []string{"image"},
		Func: func(ctx context.Context, s Sample) (Sample, error) {
			if _, err := s.Value(ctx, "image"); err != nil {
				return Sample{}, err
			}
			return NewSample(Field{Key: "image", Item: NewItem("png", image.NewGray(image.Rect(0, 0, 1, 1)))}), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func cachedOf(t *testing.T, ds Dataset[Sample]) Dataset[Sample] {
	t.Helper()
	c, err := Cached(ds, cache.Options{Policy: "lru", Bytes: 1 << 30}, "node", nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func valueOf(t *testing.T, ds Dataset[Sample], name string) {
	t.Helper()
	s, err := ds.At(t.Context(), 0)
	if err == nil {
		_, err = s.Value(t.Context(), name)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestCachesHoldWhatWasMade checks that a cache holds results and not their inputs, after
// any number of transforms.
func TestCachesHoldWhatWasMade(t *testing.T) {
	item, c := countedItem(t)
	first := Map(List(NewSample(Field{Key: "image", Item: item})), smaller(t), MapOptions{})
	second := Map(first, smaller(t), MapOptions{})
	ds := cachedOf(t, second)
	for range 3 {
		valueOf(t, ds, "image")
	}
	if item.read || c.reads.Load() != 1 {
		t.Errorf("the source's value is held: %v; it was read %d times", item.read, c.reads.Load())
	}
	s, err := ds.At(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	e := s.Executions()[0]
	if before := e.Inputs().Executions()[0]; before.done || before.out.Len() > 0 {
		t.Error("what the first transform made is held")
	}
	if !e.done {
		t.Error("what the second transform made is not held")
	}
	// A released value is available to a later reader.
	if _, err := e.Inputs().Value(t.Context(), "image"); err != nil || c.reads.Load() != 2 {
		t.Errorf("%v, read %d times", err, c.reads.Load())
	}
}

// TestCachesHoldWhatIsPassedOn checks that values that a cached sample passes on are held
// as they were read.
func TestCachesHoldWhatIsPassedOn(t *testing.T) {
	item, c := countedItem(t)
	ds := cachedOf(t, Map(List(NewSample(Field{Key: "image", Item: item})), reader(t, []string{"image"}, func() {}), MapOptions{}))
	for _, name := range []string{"ok", "image", "ok", "image"} {
		valueOf(t, ds, name)
	}
	if n := c.reads.Load(); n != 1 {
		t.Errorf("it was read %d times", n)
	}
}

// TestExactImagesComeBack checks that an image that exact accepts survives encoding
// unchanged, and that exact refuses the others.
func TestExactImagesComeBack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	codecPNG, _ := codec.ByExtension("png")
	exactOnes := 0
	for range 300 {
		r := image.Rect(0, 0, 1+random.IntN(9), 1+random.IntN(9))
		wide := image.Rect(0, 0, r.Max.X+random.IntN(2), r.Max.Y)
		var img image.Image
		var pix []byte
		switch random.IntN(3) {
		case 0:
			m := image.NewGray(wide)
			img, pix = m.SubImage(r), m.Pix
		case 1:
			m := image.NewNRGBA(wide)
			img, pix = m.SubImage(r), m.Pix
		default:
			m := image.NewRGBA(wide)
			img, pix = m.SubImage(r), m.Pix
		}
		for i := range pix {
			pix[i] = byte(random.IntN(256)) | byte(255*random.IntN(2))
		}
		if m, ok := img.(*image.RGBA); ok && random.IntN(4) > 0 {
			for i := 3; i < len(m.Pix); i += 4 {
				m.Pix[i] = 255
			}
		}
		if !exact("png", img) {
			continue
		}
		exactOnes++
		b, err := codecPNG.Encode(img)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := codecPNG.Decode(b); err != nil || !reflect.DeepEqual(v, any(img)) {
			t.Fatalf("a %T %v comes back as a %T, %v", img, r, v, err)
		}
	}
	if exactOnes < 100 {
		t.Errorf("only %d were exact", exactOnes)
	}
	for _, v := range []any{image.NewRGBA(image.Rect(0, 0, 2, 2)), image.NewGray(image.Rect(1, 1, 2, 2)), image.NewGray16(image.Rect(0, 0, 1, 1)), image.NewGray(image.Rectangle{})} {
		if exact("png", v) {
			t.Errorf("a %T is treated as what comes back", v)
		}
	}
	codec.MaxPixels.Store(3)
	defer codec.MaxPixels.Store(0)
	if exact("png", image.NewGray(image.Rect(0, 0, 2, 2))) {
		t.Error("an image of more pixels than are read is treated as what comes back")
	}
}

// TestCachesHoldWhatWasMadeTogether checks the same for transforms of several samples per call.
func TestCachesHoldWhatWasMadeTogether(t *testing.T) {
	m, err := NewTransform(TransformFunc{
		Name: "together", Code: key.Version("1"), In: []string{"image"}, Out: []string{"image"}, Batch: 2,
		BatchFunc: func(ctx context.Context, all []Sample) ([]Sample, error) {
			out := make([]Sample, len(all))
			for i, s := range all {
				if _, err := s.Value(ctx, "image"); err != nil {
					t.Error(err)
				}
				out[i] = NewSample(Field{Key: "image", Item: NewItem("png", image.NewGray(image.Rect(0, 0, 1, 1)))})
			}
			return out, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var items []*Item
	var all []Sample
	for range 2 {
		item, _ := countedItem(t)
		items, all = append(items, item), append(all, NewSample(Field{Key: "image", Item: item}))
	}
	ds := cachedOf(t, Map(List(all...), m, MapOptions{}))
	for i := range all {
		if all[i], err = ds.At(t.Context(), i); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := Make(t.Context(), all); n != 2 || err != nil {
		t.Fatalf("%d were made, %v", n, err)
	}
	for i, item := range items {
		if item.read || !all[i].Executions()[0].done {
			t.Errorf("sample %d: the source's value is held: %v", i, item.read)
		}
	}
}
