package mapper_test

import (
	"image"
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/mapper"
)

// TestCenterCrop compares positions with those of torchvision's CenterCrop.
func TestCenterCrop(t *testing.T) {
	for _, c := range []struct {
		from, to image.Point
		want     []uint8 // levels of the result; pixels are numbered from 0
	}{
		{image.Pt(4, 4), image.Pt(2, 2), []uint8{5, 6, 9, 10}},
		{image.Pt(5, 3), image.Pt(2, 1), []uint8{7, 8}}, // 1.5 columns to the even number 2
		{image.Pt(3, 3), image.Pt(2, 2), []uint8{0, 1, 3, 4}},
		{image.Pt(2, 1), image.Pt(2, 3), []uint8{0, 0, 0, 1, 0, 0}},
		{image.Pt(1, 3), image.Pt(2, 1), []uint8{1, 0}},
	} {
		m, err := mapper.CenterCrop{Width: c.to.X, Height: c.to.Y}.Transform()
		got, err := one(t.Context(), t, m, err, picture(numbered(c.from.X, c.from.Y)))
		if err != nil || !slices.Equal(got.Pix, c.want) {
			t.Errorf("%v of %v: %v, %v, want %v", c.to, c.from, got, err, c.want)
		}
	}
	if err := (mapper.CenterCrop{Width: 1}).Check(); err == nil {
		t.Error("a height of 0 is accepted")
	}
}

func TestShorterAndLongerSide(t *testing.T) {
	for _, c := range []struct {
		resize mapper.ImageResize
		from   image.Point
		want   image.Point
	}{
		{mapper.ImageResize{Shorter: 256}, image.Pt(500, 375), image.Pt(341, 256)},
		{mapper.ImageResize{Shorter: 256}, image.Pt(375, 500), image.Pt(256, 341)},
		{mapper.ImageResize{Shorter: 10}, image.Pt(7, 7), image.Pt(10, 10)},
		{mapper.ImageResize{Longer: 100}, image.Pt(500, 375), image.Pt(100, 75)},
		{mapper.ImageResize{Longer: 100}, image.Pt(375, 500), image.Pt(75, 100)},
		{mapper.ImageResize{Longer: 5}, image.Pt(100, 1), image.Pt(5, 1)},
	} {
		m, err := c.resize.Transform()
		got, err := one(t.Context(), t, m, err, picture(image.NewGray(image.Rectangle{Max: c.from})))
		if err != nil || got.Rect.Size() != c.want {
			t.Errorf("%+v of %v: %v, %v, want %v", c.resize, c.from, got.Rect, err, c.want)
		}
	}
	for _, bad := range []mapper.ImageResize{{}, {Shorter: 1, Longer: 1}, {Width: 1, Longer: 1}, {Shorter: -1}} {
		if bad.Check() == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

// gradient is an image whose level is its column, and whose second half of rows is 100
// levels lighter.
func gradient(w, h int) *image.Gray {
	img := image.NewGray(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = uint8(i % w)
		if i/w >= h/2 {
			img.Pix[i] += 100
		}
	}
	return img
}

func TestRandomResizedCrop(t *testing.T) {
	// The width that is cut out shows in the slope of the levels.
	const side, out = 100, 10
	var samples []dataset.Sample
	for range 400 {
		samples = append(samples, picture(gradient(side, side)))
	}
	widths := func(m mapper.RandomResizedCrop) (all []float64) {
		for _, img := range grays(t, dataset.Map(dataset.List(samples...), makerOf(t, m), dataset.MapOptions{}), "image") {
			if img.Rect.Size() != image.Pt(out, out) {
				t.Fatalf("the result has %v", img.Rect)
			}
			all = append(all, float64(int(img.Pix[out-2])-int(img.Pix[1]))*out/(out-3))
		}
		return all
	}
	square := widths(mapper.RandomResizedCrop{Width: out, Height: out, Scale: []float64{0.25, 0.25}, Ratio: []float64{1, 1}})
	if least, most := slices.Min(square), slices.Max(square); least < 46 || most > 54 {
		t.Errorf("a quarter has sides from %v to %v", least, most)
	}
	sum := 0.0
	free := widths(mapper.RandomResizedCrop{Width: out, Height: out})
	for _, w := range free {
		sum += w * w / (side * side)
	}
	if least, most := slices.Min(free), slices.Max(free); least < 0.9*side*math.Sqrt(0.08*0.75) || most < 95 {
		t.Errorf("widths are from %v to %v", least, most)
	}
	if mean := sum / float64(len(free)); mean < 0.4 || mean > 0.62 {
		t.Errorf("the mean share is %v, want about 0.5", mean)
	}
	// No rectangle fits, so it is the largest in the middle.
	m, err := mapper.RandomResizedCrop{Width: 1, Height: 1, Scale: []float64{1, 1}, Ratio: []float64{1, 1}, Filter: "nearest"}.Transform()
	if got, err := one(t.Context(), t, m, err, picture(gradient(9, 3))); err != nil || got.Pix[0] != 104 {
		t.Errorf("the middle is %v, %v", got, err)
	}
	for says, bad := range map[string]mapper.RandomResizedCrop{
		"at least 1":    {Width: 1},
		"scale: [0 1]":  {Width: 1, Height: 1, Scale: []float64{0, 1}},
		"ratio: [2 1]":  {Width: 1, Height: 1, Ratio: []float64{2, 1}},
		"scale: [0.5]":  {Width: 1, Height: 1, Scale: []float64{0.5}},
		"scale: [0.5 2": {Width: 1, Height: 1, Scale: []float64{0.5, 2}},
		"ratio: [1 NaN": {Width: 1, Height: 1, Ratio: []float64{1, math.NaN()}},
	} {
		if err := bad.Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: the error is %v, want %q", bad, err, says)
		}
	}
}

func TestRandomErasing(t *testing.T) {
	var samples []dataset.Sample
	for range 400 {
		samples = append(samples, picture(image.NewGray(image.Rect(0, 0, 40, 30))))
	}
	share := 0.3
	erased := 0
	for _, img := range grays(t, dataset.Map(dataset.List(samples...), makerOf(t, mapper.RandomErasing{Probability: &share, Value: int64(9)}), dataset.MapOptions{}), "image") {
		var box image.Rectangle
		n := 0
		for i, v := range img.Pix {
			if v == 0 {
				continue
			}
			if n++; v != 9 {
				t.Fatalf("a level is %d", v)
			}
			at := image.Pt(i%40, i/40)
			box = box.Union(image.Rectangle{Min: at, Max: at.Add(image.Pt(1, 1))})
		}
		if n == 0 {
			continue
		}
		erased++
		if n != box.Dx()*box.Dy() || n < 1200*2/100-12 || n > 1200*33/100+12 {
			t.Fatalf("%d pixels in %v are filled", n, box)
		}
	}
	if erased < 80 || erased > 160 { // four standard deviations, and the draws are fixed
		t.Errorf("%d of 400 were changed", erased)
	}
	always := 1.0
	m, err := mapper.RandomErasing{Probability: &always, Scale: []float64{0.3, 0.3}, Ratio: []float64{1, 1}, Value: []any{int64(1), int64(2), int64(3)}}.Transform()
	if err != nil {
		t.Fatal(err)
	}
	coloured := image.NewRGBA(image.Rect(0, 0, 8, 8))
	for i := range coloured.Pix {
		coloured.Pix[i] = 255
	}
	v, err := dataset.Map(dataset.List(picture(coloured)), m, dataset.MapOptions{}).At(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	img, err := v.Value(t.Context(), "image")
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for i := range 64 {
		found = found || img.(image.Image).At(i%8, i/8) == (color.RGBA{1, 2, 3, 255})
	}
	if !found || coloured.RGBAAt(0, 0) != (color.RGBA{255, 255, 255, 255}) || slices.Contains(coloured.Pix, 1) {
		t.Error("no pixel has the colour, or the original changed")
	}
	for says, bad := range map[string]mapper.RandomErasing{
		"probability is 2":       {Probability: ptr(2.0)},
		"value: [1 2] has 2":     {Value: []any{int64(1), int64(2)}},
		"300 is not an integer":  {Value: int64(300)},
		"blue is not an integer": {Value: "blue"},
		"scale: [1 0.5]":         {Scale: []float64{1, 0.5}},
	} {
		if err := bad.Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: the error is %v, want %q", bad, err, says)
		}
	}
}

func ptr[T any](v T) *T { return &v }
