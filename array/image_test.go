package array

import (
	"image"
	"image/color"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// paint fills an image with colours of different alpha.
func paint(img interface {
	image.Image
	Set(x, y int, c color.Color)
}) image.Image {
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			img.Set(x, y, color.NRGBA64{uint16(x * 9000), uint16(y * 7000), 0x1234, uint16(0xffff - 0x1111*x)})
		}
	}
	return img
}

func paintYCbCr(r image.Rectangle) *image.YCbCr {
	img := image.NewYCbCr(r, image.YCbCrSubsampleRatio420)
	for i := range img.Y {
		img.Y[i] = byte(7 * i)
	}
	for i := range img.Cb {
		img.Cb[i], img.Cr[i] = byte(50*i), byte(200-30*i)
	}
	return img
}

func paintOpaque(r image.Rectangle) *image.RGBA {
	img := image.NewRGBA(r)
	for i := range img.Pix {
		img.Pix[i] = byte(5*i) | byte(i%4/3*255)
	}
	return img
}

func paintOpaque64(r image.Rectangle) *image.RGBA64 {
	img := image.NewRGBA64(r)
	for i := range img.Pix {
		img.Pix[i] = byte(5*i) | byte(i%8/6*255)
	}
	return img
}

var rect = image.Rect(2, 3, 6, 6) // 3 rows of 4

func TestFromImageShapes(t *testing.T) {
	ycbcr := image.NewYCbCr(rect, image.YCbCrSubsampleRatio420)
	tests := []struct {
		img   image.Image
		dtype DType
		shape []int
	}{
		{paint(image.NewGray(rect)), Uint8, []int{3, 4}},
		{paint(image.NewGray16(rect)), Uint16, []int{3, 4}},
		{ycbcr, Uint8, []int{3, 4, 3}},
		{paint(image.NewCMYK(rect)), Uint8, []int{3, 4, 4}},
		{paintOpaque(rect), Uint8, []int{3, 4, 3}},
		{paintOpaque64(rect), Uint16, []int{3, 4, 3}},
		{paint(NewGrayAlpha(rect)), Uint8, []int{3, 4, 2}},
		{paint(NewGrayAlpha16(rect)), Uint16, []int{3, 4, 2}},
		{paint(image.NewNRGBA(rect)), Uint8, []int{3, 4, 4}},
		{paint(image.NewNRGBA64(rect)), Uint16, []int{3, 4, 4}},
		{paint(image.NewPaletted(rect, color.Palette{color.Black, color.White})), Uint8, []int{3, 4, 3}},
		{paint(image.NewPaletted(rect, color.Palette{color.Black, color.Transparent})), Uint8, []int{3, 4, 4}},
	}
	for _, test := range tests {
		a, err := FromImage(test.img, 0)
		if err != nil || a.DType != test.dtype || !slices.Equal(a.Shape, test.shape) {
			t.Errorf("%T: %v, %v; want %v %v", test.img, a, err, test.dtype, test.shape)
		}
		for _, channels := range []int{1, 2, 3, 4} {
			a, err := FromImage(test.img, channels)
			if err != nil || !slices.Equal(a.Shape, []int{3, 4, channels}) {
				t.Errorf("%T with %d channels: %v, %v", test.img, channels, a, err)
			}
		}
	}
	for _, channels := range []int{-1, 5} {
		if _, err := FromImage(ycbcr, channels); err == nil {
			t.Errorf("an image has %d channels", channels)
		}
	}
	for _, img := range []image.Image{paint(image.NewRGBA(rect)), paint(image.NewRGBA64(rect))} {
		if _, err := FromImage(img, 0); err == nil || !strings.Contains(err.Error(), "4 channels") {
			t.Errorf("alpha of a %T was dropped without a word: %v", img, err)
		}
	}
	if _, err := FromImage(image.Black, 1); err == nil {
		t.Error("an image without end has pixels")
	}
}

func TestFromImagePixels(t *testing.T) {
	for _, img := range []image.Image{
		paint(image.NewGray(rect)), paint(image.NewRGBA(rect)), paint(image.NewNRGBA(rect)),
		paint(image.NewNRGBA(image.Rect(0, 0, 9, 9))).(*image.NRGBA).SubImage(rect),
		paint(NewGrayAlpha(rect)), paintYCbCr(rect), paintOpaque(image.Rect(0, 0, 9, 9)).SubImage(rect), paintYCbCr(image.Rect(0, 0, 9, 9)).SubImage(rect),
	} {
		a, err := FromImage(img, 4)
		if err != nil {
			t.Fatal(err)
		}
		three, err := FromImage(img, 3)
		if err != nil {
			t.Fatal(err)
		}
		for y := range 3 {
			for x := range 4 {
				want := color.NRGBAModel.Convert(img.At(rect.Min.X+x, rect.Min.Y+y)).(color.NRGBA)
				p := a.Data[4*(4*y+x):]
				if !slices.Equal(three.Data[3*(4*y+x):][:3], p[:3]) {
					t.Fatalf("%T at %d, %d: 3 channels differ from 4", img, x, y)
				}
				if got := (color.NRGBA{p[0], p[1], p[2], p[3]}); got != want {
					t.Fatalf("%T at %d, %d: %v, want %v", img, x, y, got, want)
				}
			}
		}
	}
}

func TestImagesComeBack(t *testing.T) {
	at := image.Rect(0, 0, 4, 3)
	for _, img := range []image.Image{
		paint(image.NewGray(at)), paint(image.NewGray16(at)), paint(image.NewNRGBA(at)), paint(image.NewNRGBA64(at)),
		paint(NewGrayAlpha(at)), paint(NewGrayAlpha16(at)), paintOpaque(at), paintOpaque64(at),
	} {
		a, err := FromImage(img, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := a.Image(); err != nil || !reflect.DeepEqual(got, img) {
			t.Errorf("%T came back as %v, %v", img, got, err)
		}
	}
}

func TestThreeChannelsAreOpaque(t *testing.T) {
	a, err := From([]uint8{1, 2, 3, 4, 5, 6}, 1, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	want := &image.RGBA{Pix: []byte{1, 2, 3, 255, 4, 5, 6, 255}, Stride: 8, Rect: image.Rect(0, 0, 2, 1)}
	if got, err := a.Image(); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	b, err := From([]uint16{1, 2, 3}, 1, 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	want64 := &image.RGBA64{Pix: []byte{0, 1, 0, 2, 0, 3, 255, 255}, Stride: 8, Rect: image.Rect(0, 0, 1, 1)}
	if got, err := b.Image(); err != nil || !reflect.DeepEqual(got, want64) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestChannelsAreWhatLiesInMemory(t *testing.T) {
	at := image.Rect(0, 0, 1, 1)
	for _, test := range []struct {
		img  image.Image
		want []byte
	}{
		{&GrayAlpha{[]byte{200, 100}, 2, at}, []byte{200, 100}},
		{&GrayAlpha16{[]byte{1, 2, 3, 4}, 4, at}, []byte{2, 1, 4, 3}},
		{&image.CMYK{Pix: []byte{1, 2, 3, 4}, Stride: 4, Rect: at}, []byte{1, 2, 3, 4}},
		{&image.NRGBA{Pix: []byte{1, 2, 3, 0}, Stride: 4, Rect: at}, []byte{1, 2, 3, 0}},
		{&image.NRGBA64{Pix: []byte{1, 2, 3, 4, 5, 6, 0, 7}, Stride: 8, Rect: at}, []byte{2, 1, 4, 3, 6, 5, 7, 0}},
		{&image.RGBA64{Pix: []byte{1, 2, 3, 4, 5, 6, 255, 255}, Stride: 8, Rect: at}, []byte{2, 1, 4, 3, 6, 5}},
	} {
		if a, err := FromImage(test.img, 0); err != nil || !slices.Equal(a.Data, test.want) {
			t.Errorf("%T: %v, %v; want %v", test.img, a, err, test.want)
		}
	}
	clear := &GrayAlpha{[]byte{200, 0}, 2, at}
	if a, err := FromImage(clear, 1); err != nil || a.Data[0] != 200 {
		t.Errorf("the grey of a clear pixel is %v, %v; want 200", a, err)
	}
}

func TestImageRefusesOtherArrays(t *testing.T) {
	for _, a := range []Array{
		{Uint8, []int{4}, make([]byte, 4)},
		{Uint8, []int{2, 2, 5}, make([]byte, 20)},
		{Uint8, []int{1, 1, 1, 1}, make([]byte, 1)},
		{Float32, []int{1, 1}, make([]byte, 4)},
		{Uint8, []int{2, 2}, nil},
	} {
		if img, err := a.Image(); err == nil {
			t.Errorf("%v is a %T", a, img)
		}
	}
}

func BenchmarkFromImageYCbCr(b *testing.B) {
	img := paintYCbCr(image.Rect(0, 0, 256, 256))
	b.ReportAllocs()
	b.SetBytes(3 * 256 * 256)
	for b.Loop() {
		if _, err := FromImage(img, 3); err != nil {
			b.Fatal(err)
		}
	}
}
