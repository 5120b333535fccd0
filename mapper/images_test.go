package mapper_test

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/mapper"
)

// kinds has images of 4 x 3 pixels of every type, with their corner away from the origin,
// and their type after the pixels were moved.
func kinds() map[string]struct {
	img  image.Image
	want string
} {
	r := image.Rect(2, 1, 6, 4)
	palette := color.Palette{color.NRGBA{1, 2, 3, 255}, color.NRGBA{200, 100, 50, 255}, color.NRGBA{0, 255, 0, 255}}
	all := map[string]struct {
		img  image.Image
		want string
	}{
		"gray":       {image.NewGray(r), "*image.Gray"},
		"gray alpha": {array.NewGrayAlpha(r), "*array.GrayAlpha"},
		"ga16":       {array.NewGrayAlpha16(r), "*array.GrayAlpha16"},
		"gray16":     {image.NewGray16(r), "*image.Gray16"},
		"rgba":       {image.NewRGBA(r), "*image.RGBA"},
		"nrgba":      {image.NewNRGBA(r), "*image.NRGBA"},
		"rgba64":     {image.NewRGBA64(r), "*image.RGBA64"},
		"nrgba64":    {image.NewNRGBA64(r), "*image.NRGBA64"},
		"paletted":   {image.NewPaletted(r, palette), "*image.Paletted"},
		"ycbcr":      {image.NewYCbCr(r, image.YCbCrSubsampleRatio420), "*image.RGBA"},
		"cut out":    {nil, "*image.Gray"},
		"cmyk":       {image.NewCMYK(r), "*image.CMYK"},
		"alpha":      {image.NewAlpha(r), "*image.Alpha"},
		"alpha16":    {image.NewAlpha16(r), "*image.Alpha16"},
		"with alpha": {image.NewNYCbCrA(r, image.YCbCrSubsampleRatio444), "*image.NRGBA"},
	}
	i := 0
	for name, k := range all {
		switch m := k.img.(type) {
		case *image.YCbCr:
			for _, plane := range [][]uint8{m.Y, m.Cb, m.Cr} {
				for j := range plane {
					plane[j] = uint8(40*j + 17)
				}
			}
		case *image.NYCbCrA:
			for _, plane := range [][]uint8{m.Y, m.Cb, m.Cr, m.A} {
				for j := range plane {
					plane[j] = uint8(15*j + 60)
				}
			}
		case nil:
			whole := image.NewGray(image.Rect(0, 0, 9, 9))
			for j := range whole.Pix {
				whole.Pix[j] = uint8(j)
			}
			k.img = whole.SubImage(r)
			all[name] = k
		case draw.Image:
			for y := r.Min.Y; y < r.Max.Y; y++ {
				for x := r.Min.X; x < r.Max.X; x++ {
					i++
					a := uint8(255)
					if strings.HasPrefix(name, "nrgba") {
						a = uint8(100 + i)
					}
					m.Set(x, y, color.NRGBA{uint8(i * 19), uint8(i * 7), uint8(200 - i), a})
				}
			}
		}
	}
	return all
}

// samePixels compares pixel by pixel; at maps a pixel of got to its pixel of img. Colours
// of JPEG and WebP have more than the 8 bits of their source.
func samePixels(t *testing.T, what string, img, got image.Image, at func(x, y int) (int, int)) {
	t.Helper()
	from, to, model := img.Bounds().Min, got.Bounds(), color.NRGBA64Model
	switch img.(type) {
	case *image.YCbCr, *image.NYCbCrA:
		model = color.NRGBAModel
	}
	for y := range to.Dy() {
		for x := range to.Dx() {
			ix, iy := at(x, y)
			want := model.Convert(img.At(from.X+ix, from.Y+iy))
			if have := model.Convert(got.At(to.Min.X+x, to.Min.Y+y)); have != want {
				t.Errorf("%s: pixel (%d, %d) is %v, want %v", what, x, y, have, want)
				return
			}
		}
	}
}

func TestPixelsStayWhatTheyAre(t *testing.T) {
	for name, k := range kinds() {
		w, h := k.img.Bounds().Dx(), k.img.Bounds().Dy()
		black := color.NRGBA{0, 0, 0, 255}
		for _, c := range []struct {
			name string
			got  image.Image
			size image.Point
			at   func(x, y int) (int, int)
		}{
			{"crop", mapper.Crop(k.img, 1, 1, 2, 2), image.Pt(2, 2), func(x, y int) (int, int) { return x + 1, y + 1 }},
			{"crop all", mapper.Crop(k.img, 0, 0, w, h), image.Pt(w, h), func(x, y int) (int, int) { return x, y }},
			{"flip columns", mapper.Flip(k.img, true, false), image.Pt(w, h), func(x, y int) (int, int) { return w - 1 - x, y }},
			{"flip rows", mapper.Flip(k.img, false, true), image.Pt(w, h), func(x, y int) (int, int) { return x, h - 1 - y }},
			{"flip both", mapper.Flip(k.img, true, true), image.Pt(w, h), func(x, y int) (int, int) { return w - 1 - x, h - 1 - y }},
			{"flip nothing", mapper.Flip(k.img, false, false), image.Pt(w, h), func(x, y int) (int, int) { return x, y }},
			{"nearest, twice", mapper.Nearest(k.img, 2*w, 2*h), image.Pt(2*w, 2*h), func(x, y int) (int, int) { return x / 2, y / 2 }},
			{"nearest, smaller", mapper.Nearest(k.img, 2, 1), image.Pt(2, 1), func(x, _ int) (int, int) { return 2*x + 1, 1 }},
			{"pad and crop", mapper.Crop(mapper.Pad(k.img, 2, 1, 3, 4, black), 2, 1, w, h), image.Pt(w, h), func(x, y int) (int, int) { return x, y }},
		} {
			if c.got.Bounds() != (image.Rectangle{Max: c.size}) {
				t.Errorf("%s, %s: bounds %v", name, c.name, c.got.Bounds())
				continue
			}
			if kind := fmt.Sprintf("%T", c.got); kind != k.want {
				t.Errorf("%s, %s: the result is a %s, want %s", name, c.name, kind, k.want)
			}
			samePixels(t, name+", "+c.name, k.img, c.got, c.at)
		}
		padded := mapper.Pad(k.img, 2, 1, 3, 4, black)
		if padded.Bounds() != image.Rect(0, 0, w+5, h+5) {
			t.Errorf("%s: padded to %v", name, padded.Bounds())
		}
		for _, p := range []image.Point{{0, 0}, {1, 1}, {2, 0}, {w + 4, h + 4}, {w + 2, 2}} {
			if r, g, b, _ := padded.At(p.X, p.Y).RGBA(); r|g|b != 0 && !strings.HasPrefix(name, "alpha") {
				t.Errorf("%s: the border is %v at %v", name, padded.At(p.X, p.Y), p)
			}
		}
	}
}

func TestPadColors(t *testing.T) {
	red, half := color.NRGBA{255, 0, 0, 255}, color.NRGBA{255, 255, 255, 128}
	full := make(color.Palette, 256)
	for i := range full {
		full[i] = color.NRGBA{uint8(i), 1, 2, 255}
	}
	r := image.Rect(0, 0, 1, 1)
	for _, c := range []struct {
		name string
		img  image.Image
		fill color.NRGBA
		want image.Image // its type
		at   color.NRGBA // the border
	}{
		{"grey, red", image.NewGray(r), red, &image.Gray{}, color.NRGBA{76, 76, 76, 255}},
		{"grey, half", image.NewGray(r), half, &image.Gray{}, color.NRGBA{255, 255, 255, 255}},
		{"RGBA, red", image.NewRGBA(r), red, &image.RGBA{}, red},
		{"RGBA, half", image.NewRGBA(r), half, &image.NRGBA{}, half},
		{"NRGBA, half", image.NewNRGBA(r), half, &image.NRGBA{}, half},
		{"NRGBA64, half", image.NewNRGBA64(r), half, &image.NRGBA64{}, half},
		{"RGBA64, half", image.NewRGBA64(r), half, &image.NRGBA64{}, half},
		{"CMYK, half", image.NewCMYK(r), half, &image.NRGBA{}, half},
		{"YCbCr, half", image.NewYCbCr(r, image.YCbCrSubsampleRatio444), half, &image.NRGBA{}, half},
		{"palette with free entries", image.NewPaletted(r, full[:2]), red, &image.Paletted{}, red},
		{"palette that has it", image.NewPaletted(r, full), full[9].(color.NRGBA), &image.Paletted{}, full[9].(color.NRGBA)},
		{"full palette", image.NewPaletted(r, full), red, &image.RGBA{}, red},
		{"full palette, half", image.NewPaletted(r, full), half, &image.NRGBA{}, half},
	} {
		got := mapper.Pad(c.img, 1, 0, 0, 0, c.fill)
		if fmt.Sprintf("%T", got) != fmt.Sprintf("%T", c.want) {
			t.Errorf("%s: a %T, want a %T", c.name, got, c.want)
		}
		if at := color.NRGBAModel.Convert(got.At(0, 0)); at != c.at {
			t.Errorf("%s: the border is %v, want %v", c.name, at, c.at)
		}
		if a, b := color.NRGBAModel.Convert(got.At(1, 0)), color.NRGBAModel.Convert(c.img.At(0, 0)); a != b {
			t.Errorf("%s: the pixel became %v, want %v", c.name, a, b)
		}
	}
}

// numbered returns a grey image whose pixels all differ.
func numbered(w, h int) *image.Gray {
	img := image.NewGray(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = uint8(i)
	}
	return img
}

// one applies a mapper to a sample and returns its grey image.
func one(ctx context.Context, t *testing.T, m dataset.Transform, err error, s dataset.Sample) (*image.Gray, error) {
	t.Helper()
	out, err := mapped(ctx, t, m, err, s)
	if err != nil {
		return nil, err
	}
	v, err := out.Value(ctx, "image")
	if err != nil {
		return nil, err
	}
	return v.(*image.Gray), nil
}

func TestImageCropAndPad(t *testing.T) {
	s := picture(numbered(4, 3))
	for _, c := range []struct {
		name string
		m    interface {
			Transform() (dataset.Transform, error)
		}
		want [][]uint8
		says string
	}{
		{"crop", mapper.ImageCrop{X: 1, Y: 1, Width: 2, Height: 2}, [][]uint8{{5, 6}, {9, 10}}, ""},
		{"crop to the border", mapper.ImageCrop{X: 3, Y: 1}, [][]uint8{{7}, {11}}, ""},
		{"crop beyond", mapper.ImageCrop{X: 3, Width: 2}, nil, "at (3, 0) exceeds the image of 4 x 3"},
		{"crop behind", mapper.ImageCrop{X: 4}, nil, "exceeds the image"},
		{"crop far beyond", mapper.ImageCrop{X: math.MaxInt, Width: 1}, nil, "exceeds the image"},
		{"crop too much", mapper.ImageCrop{Height: math.MaxInt}, nil, "exceeds the image"},
		{"negative", mapper.ImageCrop{X: -1}, nil, "give numbers of 0 or more"},
		{"no items", mapper.ImageCrop{Items: []string{}}, nil, "at least one image"},
		{"no format", mapper.ImageCrop{Format: "webp"}, nil, "can be read but not written"},
		{"what is not there", mapper.ImageCrop{Items: []string{"photo"}}, nil, `item "photo" not found`},
		{"pad", mapper.ImagePad{Left: 1, Bottom: 1, Color: "#fff"}, [][]uint8{{255, 0, 1, 2, 3}, {255, 4, 5, 6, 7}, {255, 8, 9, 10, 11}, {255, 255, 255, 255, 255}}, ""},
		{"pad to a size", mapper.ImagePad{Width: 7, Height: 3}, [][]uint8{{0, 0, 1, 2, 3, 0, 0}, {0, 4, 5, 6, 7, 0, 0}, {0, 8, 9, 10, 11, 0, 0}}, ""},
		{"pad to a size it has", mapper.ImagePad{Width: 2}, [][]uint8{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}, ""},
		{"pad both ways", mapper.ImagePad{Width: 7, Left: 1}, nil, "width excludes left and right"},
		{"pad negative", mapper.ImagePad{Top: -1}, nil, "size -1 is out of range"},
		{"pad far too much", mapper.ImagePad{Top: 1 << 16}, nil, "at most 65536 for each side"},
		{"pad too many pixels", mapper.ImagePad{Width: 60000, Height: 60000}, nil, "in total are supported"},
		{"pad in no colour", mapper.ImagePad{Left: 1, Color: "red"}, nil, "is not a colour"},
		{"pad in half a colour", mapper.ImagePad{Left: 1, Color: "#ff00f"}, nil, "is not a colour"},
	} {
		m, err := c.m.Transform()
		got, err := one(t.Context(), t, m, err, s)
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: the error is %v, want %q", c.name, err, c.says)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var rows [][]uint8
		for row := range slices.Chunk(got.Pix, got.Stride) {
			rows = append(rows, row)
		}
		if diff := cmp.Diff(c.want, rows); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// pairs returns a dataset of samples with an image and a mask of the same pixels.
func pairs(n, w, h int) dataset.Dataset[dataset.Sample] {
	all := make([]dataset.Sample, n)
	for i := range all {
		all[i] = dataset.NewSample(
			dataset.Field{Key: "image", Item: dataset.NewItem("png", numbered(w, h))},
			dataset.Field{Key: "mask", Item: dataset.NewItem("png", numbered(w, h))})
	}
	return dataset.List(all...)
}

// grays returns an image of every sample of a dataset.
func grays(t *testing.T, ds dataset.Dataset[dataset.Sample], item string) []*image.Gray {
	t.Helper()
	var all []*image.Gray
	for s, err := range dataset.All(t.Context(), ds) {
		if err != nil {
			t.Fatal(err)
		}
		v, err := s.Value(t.Context(), item)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v.(*image.Gray))
	}
	return all
}

func makerOf(t *testing.T, m interface {
	Transform() (dataset.Transform, error)
}) dataset.Transform {
	t.Helper()
	transform, err := m.Transform()
	if err != nil {
		t.Fatal(err)
	}
	return transform
}

// TestRandomImagesAreChangedAlike checks that image and mask get the same change. Samples,
// seeds and epochs get different ones.
func TestRandomImagesAreChangedAlike(t *testing.T) {
	both := []string{"image", "mask"}
	for _, c := range []struct {
		name string
		make func(seed, epoch int) interface {
			Transform() (dataset.Transform, error)
		}
	}{
		{"flip", func(seed, epoch int) interface {
			Transform() (dataset.Transform, error)
		} {
			return mapper.ImageFlip{Items: both, Horizontal: 0.5, Vertical: 0.5, Seed: seed, Epoch: epoch}
		}},
		{"crop", func(seed, epoch int) interface {
			Transform() (dataset.Transform, error)
		} {
			return mapper.RandomCrop{Items: both, Width: 3, Height: 2, Seed: seed, Epoch: epoch}
		}},
		{"jitter", func(seed, epoch int) interface {
			Transform() (dataset.Transform, error)
		} {
			return mapper.ColorJitter{Items: both, Brightness: 0.5, Contrast: []any{0.5, 1.5}, Seed: seed, Epoch: epoch}
		}},
		{"resized crop", func(seed, epoch int) interface {
			Transform() (dataset.Transform, error)
		} {
			return mapper.RandomResizedCrop{Items: both, Width: 3, Height: 2, Seed: seed, Epoch: epoch}
		}},
		{"erasing", func(seed, epoch int) interface {
			Transform() (dataset.Transform, error)
		} {
			return mapper.RandomErasing{Items: both, Value: int64(255), Seed: seed, Epoch: epoch}
		}},
	} {
		run := func(seed, epoch int) []*image.Gray {
			ds := dataset.Map(pairs(20, 6, 5), makerOf(t, c.make(seed, epoch)), dataset.MapOptions{})
			images, masks := grays(t, ds, "image"), grays(t, ds, "mask")
			if diff := cmp.Diff(images, masks); diff != "" {
				t.Errorf("%s: image and mask differ:\n%s", c.name, diff)
			}
			return images
		}
		base := run(0, 0)
		if !cmp.Equal(base, run(0, 0)) {
			t.Errorf("%s: it is another the second time", c.name)
		}
		if cmp.Equal(base, run(1, 0)) || cmp.Equal(base, run(0, 1)) {
			t.Errorf("%s: seed or epoch does not matter", c.name)
		}
		distinct := map[string]bool{}
		for _, img := range base {
			distinct[string(img.Pix)] = true
		}
		if len(distinct) < 3 {
			t.Errorf("%s: 20 samples came out in %d ways", c.name, len(distinct))
		}
	}
}

func TestImageFlip(t *testing.T) {
	flips := func(h, v float64) (columns, rows int) {
		for _, img := range grays(t, dataset.Map(pairs(200, 2, 2), makerOf(t, mapper.ImageFlip{Horizontal: h, Vertical: v}), dataset.MapOptions{}), "image") {
			switch img.Pix[0] {
			case 1:
				columns++
			case 2:
				rows++
			case 3:
				columns, rows = columns+1, rows+1
			}
		}
		return columns, rows
	}
	for _, c := range []struct{ h, v float64 }{{0, 0}, {1, 0}, {0, 1}, {1, 1}} {
		if columns, rows := flips(c.h, c.v); columns != int(200*c.h) || rows != int(200*c.v) {
			t.Errorf("probabilities %v, %v: %d and %d of 200", c.h, c.v, columns, rows)
		}
		if makerOf(t, mapper.ImageFlip{Horizontal: c.h, Vertical: c.v}).Random() != nil {
			t.Errorf("probabilities %v, %v are said to be random", c.h, c.v)
		}
	}
	columns, rows := flips(0.5, 0.1)
	if columns < 60 || columns > 140 || rows < 5 || rows > 45 { // six standard deviations, and the draws are fixed
		t.Errorf("%d and %d of 200 for probabilities 0.5 and 0.1", columns, rows)
	}
	if again, _ := flips(0.5, 0.9); again != columns {
		t.Error("one probability changes the draws of the other")
	}
	for _, bad := range []float64{-0.1, 1.1, math.NaN()} {
		if err := (mapper.ImageFlip{Horizontal: bad}).Check(); err == nil || !strings.Contains(err.Error(), "horizontal") {
			t.Errorf("%v: the error is %v", bad, err)
		}
	}
}

func TestRandomCrop(t *testing.T) {
	seen := map[image.Point]bool{}
	for _, img := range grays(t, dataset.Map(pairs(300, 4, 3), makerOf(t, mapper.RandomCrop{Width: 2, Height: 2}), dataset.MapOptions{}), "image") {
		at := image.Pt(int(img.Pix[0])%4, int(img.Pix[0])/4)
		seen[at] = true
		if !slices.Equal(img.Pix, []uint8{img.Pix[0], img.Pix[0] + 1, img.Pix[0] + 4, img.Pix[0] + 5}) {
			t.Fatalf("not a part of the image: %v", img.Pix)
		}
	}
	if len(seen) != 6 {
		t.Errorf("300 samples were cut at %d places of 6", len(seen))
	}
	m, err := mapper.RandomCrop{Width: 4, Height: 3}.Transform()
	if got, err := one(t.Context(), t, m, err, picture(numbered(4, 3))); err != nil || !slices.Equal(got.Pix, numbered(4, 3).Pix) {
		t.Errorf("the whole: %v", err)
	}
	s := picture(numbered(4, 3)).WithItem("mask", dataset.NewItem("png", numbered(4, 4)))
	for says, c := range map[string]mapper.RandomCrop{
		"exceeds the image of 4 x 3": {Width: 5, Height: 1},
		"crop images of equal sizes": {Items: []string{"image", "mask"}, Width: 1, Height: 1},
		"give at least 1":            {Width: 1},
		`per is "node"`:              {Width: 1, Height: 1, Per: "node"},
	} {
		m, err := c.Transform()
		if _, err := one(t.Context(), t, m, err, s); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: the error is %v, want %q", c, err, says)
		}
	}
}

// TestJitter compares with results computed by hand.
func TestJitter(t *testing.T) {
	px := func(colors ...color.NRGBA) *image.NRGBA {
		img := image.NewNRGBA(image.Rect(0, 0, len(colors), 1))
		for i, c := range colors {
			img.SetNRGBA(i, 0, c)
		}
		return img
	}
	inOrder := []int{0, 1, 2, 3}
	same := [4]float64{1, 1, 1, 0}
	with := func(i int, f float64) [4]float64 {
		out := same
		out[i] = f
		return out
	}
	c := func(r, g, b, a uint8) color.NRGBA { return color.NRGBA{r, g, b, a} }
	for _, k := range []struct {
		name    string
		in      *image.NRGBA
		order   []int
		factors [4]float64
		want    []color.NRGBA
	}{
		{"nothing", px(c(1, 2, 3, 4), c(255, 0, 77, 255)), inOrder, same, []color.NRGBA{c(1, 2, 3, 4), c(255, 0, 77, 255)}},
		{"half as bright", px(c(100, 50, 200, 9)), inOrder, with(0, 0.5), []color.NRGBA{c(50, 25, 100, 9)}},
		{"too bright", px(c(100, 50, 200, 9)), inOrder, with(0, 2), []color.NRGBA{c(200, 100, 255, 9)}},
		{"no contrast", px(c(0, 0, 0, 255), c(200, 200, 200, 255)), inOrder, with(1, 0), []color.NRGBA{c(100, 100, 100, 255), c(100, 100, 100, 255)}},
		{"more contrast", px(c(90, 90, 90, 255), c(110, 110, 110, 255)), inOrder, with(1, 2), []color.NRGBA{c(80, 80, 80, 255), c(120, 120, 120, 255)}},
		{"no colour", px(c(255, 0, 0, 255)), inOrder, with(2, 0), []color.NRGBA{c(76, 76, 76, 255)}},
		{"red to green", px(c(200, 0, 0, 255)), inOrder, with(3, 1.0/3), []color.NRGBA{c(0, 200, 0, 255)}},
		{"red to blue", px(c(200, 0, 0, 255)), inOrder, with(3, -1.0/3), []color.NRGBA{c(0, 0, 200, 255)}},
		{"to the other side", px(c(200, 100, 100, 255), c(10, 20, 30, 255)), inOrder, with(3, 0.5), []color.NRGBA{c(100, 200, 200, 255), c(30, 20, 10, 255)}},
		{"grey has no hue", px(c(9, 9, 9, 255)), inOrder, with(3, 0.2), []color.NRGBA{c(9, 9, 9, 255)}},
		{"bright, then no contrast", px(c(0, 0, 0, 255), c(200, 200, 200, 255)), []int{0, 1, 2, 3}, [4]float64{2, 0, 1, 0}, []color.NRGBA{c(127, 127, 127, 255), c(127, 127, 127, 255)}},
		{"no contrast, then bright", px(c(0, 0, 0, 255), c(200, 200, 200, 255)), []int{1, 0, 2, 3}, [4]float64{2, 0, 1, 0}, []color.NRGBA{c(200, 200, 200, 255), c(200, 200, 200, 255)}},
	} {
		got := mapper.Jitter(k.in, k.order, k.factors).(*image.NRGBA)
		for i, want := range k.want {
			if got.NRGBAAt(i, 0) != want {
				t.Errorf("%s: pixel %d is %v, want %v", k.name, i, got.NRGBAAt(i, 0), want)
			}
		}
	}
	// A type changes only to one that can hold it, and hue and saturation leave grey
	// unchanged.
	want := map[string]string{
		"gray": "*image.Gray", "cut out": "*image.Gray", "gray16": "*image.Gray16", "gray alpha": "*array.GrayAlpha", "ga16": "*array.GrayAlpha16",
		"rgba64": "*image.RGBA64", "nrgba64": "*image.NRGBA64", "alpha16": "*image.NRGBA64",
		"rgba": "*image.RGBA", "ycbcr": "*image.RGBA", "paletted": "*image.RGBA", "cmyk": "*image.RGBA",
	}
	for name, k := range kinds() {
		got := mapper.Jitter(k.img, inOrder, same)
		kind, ok := want[name]
		if !ok {
			kind = "*image.NRGBA"
		}
		if fmt.Sprintf("%T", got) != kind {
			t.Errorf("%s became a %T, want a %s", name, got, kind)
		}
		if strings.Contains(name, "rgba64") || strings.Contains(kind, "Gray") || name == "nrgba" {
			samePixels(t, name, k.img, got, func(x, y int) (int, int) { return x, y })
		}
	}
	grey := numbered(5, 5)
	if got := mapper.Jitter(grey, inOrder, [4]float64{1, 1, 0.3, 0.4}).(*image.Gray); !slices.Equal(got.Pix, grey.Pix) {
		t.Error("hue or saturation changed a grey image")
	}
}

func TestJitterRanges(t *testing.T) {
	for says, bad := range map[string]mapper.ColorJitter{
		"brightness: -1 is negative":              {Brightness: -1},
		"contrast: x is not a range":              {Contrast: "x"},
		"saturation: [1] is not a range":          {Saturation: []any{1.0}},
		"give an ascending range":                 {Saturation: []any{1.0, 0.5}},
		"hue: 0.6 is the range -0.6 to 0.6":       {Hue: 0.6},
		"hue: [-1 0] is the range -1 to 0":        {Hue: []any{int64(-1), int64(0)}},
		"brightness: [-1 2] is the range -1 to 2": {Brightness: []float64{-1, 2}},
		"brightness: NaN":                         {Brightness: math.NaN()},
	} {
		if err := bad.Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: the error is %v, want %q", bad, err, says)
		}
	}
	// A range of one number changes all samples by that factor.
	for _, img := range grays(t, dataset.Map(pairs(5, 2, 1), makerOf(t, mapper.ColorJitter{Brightness: []any{int64(0), 0.0}}), dataset.MapOptions{}), "image") {
		if !slices.Equal(img.Pix, []uint8{0, 0}) {
			t.Errorf("brightness 0 gives %v", img.Pix)
		}
	}
	// A range changes the draws of no other quality.
	a := grays(t, dataset.Map(pairs(5, 9, 9), makerOf(t, mapper.ColorJitter{Brightness: 0.5}), dataset.MapOptions{}), "image")
	b := grays(t, dataset.Map(pairs(5, 9, 9), makerOf(t, mapper.ColorJitter{Brightness: 0.5, Hue: 0.5, Saturation: 3}), dataset.MapOptions{}), "image")
	if !cmp.Equal(a, b) {
		t.Error("hue and saturation changed the brightness that was drawn")
	}
}

func TestResizeFilters(t *testing.T) {
	for _, filter := range []string{"nearest", "box", "bilinear", "catmull-rom", "lanczos", ""} {
		// A flat image stays flat, and grey stays grey.
		flat := image.NewGray(image.Rect(0, 0, 8, 8))
		for i := range flat.Pix {
			flat.Pix[i] = 77
		}
		for _, size := range []int{1, 3, 8, 19} {
			m, err := mapper.ImageResize{Width: size, Height: 2, Filter: filter}.Transform()
			got, err := one(t.Context(), t, m, err, picture(flat))
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range got.Pix {
				if v != 77 {
					t.Errorf("%s to %d: 77 became %d", filter, size, v)
					break
				}
			}
		}
	}
	m, err := mapper.ImageResize{Width: 1, Height: 1, Filter: "box"}.Transform()
	if got, err := one(t.Context(), t, m, err, picture(&image.Gray{Pix: []uint8{0, 4, 8, 12}, Stride: 2, Rect: image.Rect(0, 0, 2, 2)})); err != nil || got.Pix[0] != 6 { // the mean
		t.Errorf("%v, %v", got, err)
	}
	mask := image.NewPaletted(image.Rect(0, 0, 2, 1), color.Palette{color.Black, color.White, color.NRGBA{1, 2, 3, 255}})
	mask.Pix[1] = 2
	m, err = mapper.ImageResize{Width: 4, Filter: "nearest"}.Transform()
	s, err := mapped(t.Context(), t, m, err, picture(mask))
	if err != nil {
		t.Fatal(err)
	}
	v, err := s.Value(t.Context(), "image")
	if got, ok := v.(*image.Paletted); !ok || err != nil || !slices.Equal(got.Pix, []uint8{0, 0, 2, 2, 0, 0, 2, 2}) {
		t.Errorf("a mask became %v, %v", v, err)
	}
	if _, err := (mapper.ImageResize{Width: 4, Filter: "cubic"}).Transform(); err == nil {
		t.Error("an unknown filter was accepted")
	}
}

// TestChannelsStay checks that results of mappers, read from a file again, keep the image's
// channels and depth, whatever its pixels are.
func TestChannelsStay(t *testing.T) {
	for name, k := range kinds() {
		if _, inks := k.img.(*image.CMYK); inks {
			continue // PNG cannot hold it
		}
		channels, depth := array.Channels(k.img)
		for _, m := range []interface {
			Transform() (dataset.Transform, error)
		}{
			mapper.ImageCrop{Width: 2}, mapper.ImageFlip{Horizontal: 1}, mapper.ImagePad{Left: 1},
			mapper.ImageResize{Width: 9}, mapper.ImageResize{Width: 9, Filter: "nearest"}, mapper.ImageResize{Width: 9, Filter: "lanczos"},
			mapper.ColorJitter{Brightness: 0.5, Hue: 0.1},
		} {
			for _, ext := range []string{"png", "tiff"} {
				in := dataset.List(dataset.NewSample(dataset.Field{Key: "image", Item: dataset.NewItem(ext, k.img)}))
				out, err := dataset.Map(in, makerOf(t, m), dataset.MapOptions{}).At(t.Context(), 0)
				if err != nil {
					t.Errorf("%s: %T: %v", name, m, err)
					continue
				}
				v, err := out.Value(t.Context(), "image")
				if err != nil {
					t.Errorf("%s: %T: %v", name, m, err)
					continue
				}
				n, d := array.Channels(v.(image.Image))
				if n != channels || d != depth && depth == array.Uint8 {
					t.Errorf("%s from %s: %T made %d channels of %v, had %d of %v", name, ext, m, n, d, channels, depth)
				}
			}
		}
	}
}
