package mapper_test

import (
	"bytes"
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/mapper"
)

// blendedExactly returns a channel of a scaled image, computed from the definition in
// floating point.
func blendedExactly(at func(x, y int) float64, size image.Point, w, h int, filter string) []float64 {
	support, kernel := mapper.Support(filter)
	weights := func(i, n, size int) (all []float64) {
		scale := float64(size) / float64(n)
		center, wide, sum := (float64(i)+0.5)*scale-0.5, max(scale, 1), 0.0
		for j := range size {
			weight := 0.0
			if t := math.Abs(center-float64(j)) / wide; t < support {
				weight = kernel(t)
			}
			all = append(all, weight)
			sum += weight
		}
		for j := range all {
			all[j] /= sum
		}
		return all
	}
	between := make([]float64, size.Y*w)
	for x := range w {
		along := weights(x, w, size.X)
		for y := range size.Y {
			for j, weight := range along {
				between[y*w+x] += weight * at(j, y)
			}
		}
	}
	out := make([]float64, h*w)
	for y := range h {
		down := weights(y, h, size.Y)
		for x := range w {
			for j, weight := range down {
				out[y*w+x] += weight * between[j*w+x]
			}
		}
	}
	return out
}

// TestResampledIsExact checks that integer scaling gives the nearest level of the
// definition, or its neighbour near a tie.
func TestResampledIsExact(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	patterns := map[string]func(x, y int) byte{
		"noise":   func(int, int) byte { return byte(random.Uint32()) },
		"extreme": func(x, y int) byte { return byte(255 * ((x/2 + y/3) % 2)) },
		"black":   func(int, int) byte { return 0 },
		"white":   func(int, int) byte { return 255 },
	}
	sizes := []struct{ from, to image.Point }{
		{image.Pt(64, 48), image.Pt(7, 5)}, {image.Pt(5, 7), image.Pt(31, 19)}, {image.Pt(1, 1), image.Pt(3, 3)},
		{image.Pt(40, 40), image.Pt(40, 40)}, {image.Pt(900, 3), image.Pt(1, 4)}, {image.Pt(3, 700), image.Pt(9, 2)}, {image.Pt(33, 17), image.Pt(32, 16)},
	}
	for name, pattern := range patterns {
		for _, filter := range []string{"box", "bilinear", "catmull-rom", "lanczos"} {
			for _, s := range sizes {
				gray := image.NewGray(image.Rectangle{Max: s.from})
				rgba := image.NewRGBA(gray.Rect)
				palette := image.NewPaletted(gray.Rect, nil)
				for i := range 256 {
					palette.Palette = append(palette.Palette, color.RGBA{byte(i), byte(7 * i), 255 - byte(i), 255})
				}
				for i := range gray.Pix {
					x, y := i%s.from.X, i/s.from.X
					gray.Pix[i], palette.Pix[i] = pattern(x, y), pattern(x, y)
					copy(rgba.Pix[4*i:], []byte{pattern(x, y), pattern(x+1, y), pattern(x, y+1), 255})
				}
				for _, img := range []image.Image{gray, rgba, palette, withAlpha(rgba, func(int) byte { return 255 })} {
					checkResampled(t, name, img, s.to, filter)
				}
				for i := range 4 {
					checkAlpha(t, name, withAlpha(rgba, func(at int) byte {
						return []byte{byte(random.Uint32()), byte(255 * (at / 3 % 2)), byte(at % 3), 1}[i]
					}), s.to, filter)
				}
			}
		}
	}
}

func checkResampled(t *testing.T, name string, img image.Image, to image.Point, filter string) {
	t.Helper()
	got, ok := mapper.Resample(img, to.X, to.Y, filter)
	if !ok || got.Bounds() != (image.Rectangle{Max: to}) {
		t.Fatalf("a %T becomes %v, %v", img, got, ok)
	}
	channel := func(c color.Color, n int) float64 {
		r, g, b, a := c.RGBA()
		return float64([]uint32{r, g, b, a}[n] >> 8)
	}
	for n := range 4 {
		want := blendedExactly(func(x, y int) float64 { return channel(img.At(x, y), n) }, img.Bounds().Size(), to.X, to.Y, filter)
		for i, w := range want {
			v := channel(got.At(i%to.X, i/to.X), n)
			w = min(255, max(0, w))
			if math.Abs(v-w) > 0.53 {
				t.Fatalf("%s, %T of %v to %v by %s: channel %d of pixel %d is %v, want %v", name, img, img.Bounds().Size(), to, filter, n, i, v, w)
			}
		}
	}
}

// withAlpha returns an image of the same colours with alpha.
func withAlpha(m *image.RGBA, alpha func(at int) byte) *image.NRGBA {
	out := image.NewNRGBA(m.Rect)
	for i := range m.Rect.Dx() * m.Rect.Dy() {
		copy(out.Pix[4*i:], m.Pix[4*i:4*i+3])
		out.Pix[4*i+3] = alpha(i)
	}
	return out
}

// checkAlpha checks that alpha equals the definition, and that colours equal it weighted by
// alpha, except where almost no alpha is left.
func checkAlpha(t *testing.T, name string, img *image.NRGBA, to image.Point, filter string) {
	t.Helper()
	v, ok := mapper.Resample(img, to.X, to.Y, filter)
	got, _ := v.(*image.NRGBA)
	if !ok || got == nil || got.Rect.Max != to {
		t.Fatalf("it becomes a %T of %v", v, got.Bounds())
	}
	size := img.Rect.Size()
	alpha := func(x, y int) float64 { return float64(img.Pix[y*img.Stride+4*x+3]) }
	alphas := blendedExactly(alpha, size, to.X, to.Y, filter)
	for n := range 3 {
		sums := blendedExactly(func(x, y int) float64 { return alpha(x, y) * float64(img.Pix[y*img.Stride+4*x+n]) }, size, to.X, to.Y, filter)
		for i, sum := range sums {
			have, clear := float64(got.Pix[4*i+n]), got.Pix[4*i+3]
			if math.Abs(float64(clear)-min(255, max(0, alphas[i]))) > 0.53 {
				t.Fatalf("%s of %v to %v by %s: alpha of pixel %d is %d, want %v", name, size, to, filter, i, clear, alphas[i])
			}
			if want := min(255, max(0, sum/alphas[i])); clear > 0 && math.Abs(have-want) > 0.53 {
				t.Fatalf("%s of %v to %v by %s: channel %d of pixel %d is %v, want %v of alpha %v", name, size, to, filter, n, i, have, want, alphas[i])
			}
		}
	}
}

// TestResampledGreyWithAlpha checks that it is scaled as colour.
func TestResampledGreyWithAlpha(t *testing.T) {
	grey := array.NewGrayAlpha(image.Rect(3, 4, 40, 33))
	nrgba := image.NewNRGBA(grey.Rect)
	for y := grey.Rect.Min.Y; y < grey.Rect.Max.Y; y++ {
		for x := grey.Rect.Min.X; x < grey.Rect.Max.X; x++ {
			c := color.NRGBA{byte(9 * x), byte(9 * x), byte(9 * x), byte(7 * y)}
			grey.Set(x, y, c)
			nrgba.SetNRGBA(x, y, c)
		}
	}
	got, _ := mapper.Resample(grey, 11, 13, "lanczos")
	want, _ := mapper.Resample(nrgba, 11, 13, "lanczos")
	if _, ok := got.(*array.GrayAlpha); !ok {
		t.Fatalf("it becomes a %T", got)
	}
	samePixels(t, "grey with alpha", want, got, func(x, y int) (int, int) { return x, y })
}

// TestResampledPartOfAnImage checks that pixels outside of the part do not count.
func TestResampledPartOfAnImage(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, img := range []image.Image{image.NewGray(image.Rect(0, 0, 50, 40)), image.NewRGBA(image.Rect(0, 0, 50, 40)), image.NewNRGBA(image.Rect(0, 0, 50, 40))} {
		var pix []byte
		switch m := img.(type) {
		case *image.Gray:
			pix = m.Pix
		case *image.RGBA:
			pix = m.Pix
		case *image.NRGBA:
			pix = m.Pix
		}
		for i := range pix {
			pix[i] = byte(random.Uint32()) | byte(i%4/3*255)
		}
		part := img.(interface {
			SubImage(r image.Rectangle) image.Image
		}).SubImage(image.Rect(17, 9, 50, 40))
		got, _ := mapper.Resample(part, 8, 9, "bilinear")
		want, _ := mapper.Resample(mapper.Crop(img, 17, 9, 33, 31), 8, 9, "bilinear")
		samePixels(t, "a part", want, got, func(x, y int) (int, int) { return x, y })
	}
}

// TestResampledLeavesOthers checks that images with more than 8 bits, or with inks, use
// another path.
func TestResampledLeavesOthers(t *testing.T) {
	r := image.Rect(0, 0, 4, 4)
	for _, img := range []image.Image{image.NewNRGBA64(r), image.NewRGBA64(r), image.NewGray16(r), array.NewGrayAlpha16(r), image.NewCMYK(r)} {
		if _, ok := mapper.Resample(img, 2, 2, "box"); ok {
			t.Errorf("a %T was treated as one of 8 bits a channel", img)
		}
	}
}

// BenchmarkResize reduces a photograph.
func BenchmarkResize(b *testing.B) {
	r := image.Rect(0, 0, 1472, 1104)
	for name, img := range map[string]image.Image{"colour": image.NewRGBA(r), "grey": image.NewGray(r), "alpha": image.NewNRGBA(r)} {
		b.Run(name, func(b *testing.B) {
			switch m := img.(type) {
			case *image.RGBA:
				fill(m.Pix)
			case *image.Gray:
				fill(m.Pix)
			case *image.NRGBA:
				fill(m.Pix)
			}
			b.SetBytes(1472 * 1104)
			for b.Loop() {
				mapper.Resample(img, 256, 192, "bilinear")
			}
		})
	}
}

func fill(pix []byte) {
	for i := range pix {
		pix[i] = byte(i * 7)
	}
}

// TestReducedResize checks that a JPEG decoded at a reduced size gives an image of the same
// size and nearly the same pixels, also after a full read. Other formats are read in full.
func TestReducedResize(t *testing.T) {
	for _, size := range []image.Point{{1203, 801}, {640, 480}, {333, 1000}, {60, 50}, {130, 97}} {
		img := image.NewRGBA(image.Rectangle{Max: size})
		for y := range size.Y {
			for x := range size.X {
				wave := func(a, b float64) byte {
					return byte(128 + 100*math.Sin(a*float64(x))*math.Cos(b*float64(y)))
				}
				img.SetRGBA(x, y, color.RGBA{wave(.03, .05), wave(.2, .01), wave(.013, .3), 255})
			}
		}
		for _, ext := range []string{"jpg", "png"} {
			resized := func(reduce int, look bool) *image.RGBA {
				it := dataset.NewItem(ext, img)
				if look {
					if _, err := it.Value(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				m, err := mapper.ImageResize{Width: 57, Reduce: reduce}.Transform()
				out, err := apply(t.Context(), m, err, dataset.NewSample(dataset.Field{Key: "image", Item: it}))
				if err != nil {
					t.Fatal(err)
				}
				v, err := out.Value(t.Context(), "image")
				if err != nil {
					t.Fatal(err)
				}
				return v.(*image.RGBA)
			}
			whole, reduced := resized(0, false), resized(2, false)
			if whole.Rect != reduced.Rect {
				t.Fatalf("%v as %s becomes %v, and %v where it is read in part", size, ext, whole.Rect, reduced.Rect)
			}
			if !bytes.Equal(reduced.Pix, resized(2, true).Pix) {
				t.Errorf("%v as %s depends on its earlier readers", size, ext)
			}
			sum, most := 0, 0
			for i := range whole.Pix {
				d := max(whole.Pix[i], reduced.Pix[i]) - min(whole.Pix[i], reduced.Pix[i])
				sum, most = sum+int(d), max(most, int(d))
			}
			mean := float64(sum) / float64(len(whole.Pix))
			if same := ext == "png" || size.X < 4*57; mean > 4 || same != (most == 0) {
				t.Errorf("%v as %s differs by %.2f levels, %d at most", size, ext, mean, most)
			}
		}
	}
	for _, bad := range []mapper.ImageResize{{Width: 9, Reduce: -1}, {Width: 9, Reduce: 65}, {Width: 9, Reduce: 2, Filter: "nearest"}} {
		if _, err := bad.Transform(); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}
