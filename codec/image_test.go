package codec_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/codec"
)

// painted is an image of smooth colours.
func painted(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.SetNRGBA(x, y, color.NRGBA{uint8(8 * x), uint8(8 * y), uint8(4 * (x + y)), 255})
		}
	}
	return img
}

func gray(w, h int) *image.Gray {
	img := image.NewGray(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = byte(3 * i)
	}
	return img
}

func samePixels(a, b image.Image) bool {
	if a.Bounds() != b.Bounds() {
		return false
	}
	for y := a.Bounds().Min.Y; y < a.Bounds().Max.Y; y++ {
		for x := a.Bounds().Min.X; x < a.Bounds().Max.X; x++ {
			if color.NRGBA64Model.Convert(a.At(x, y)) != color.NRGBA64Model.Convert(b.At(x, y)) {
				return false
			}
		}
	}
	return true
}

func TestImagesComeBack(t *testing.T) {
	seeThrough := painted(7, 5)
	seeThrough.Pix[3] = 100
	for _, ext := range []string{"png", "bmp", "tiff", "jpeg", "gif"} {
		c := by(t, ext)
		for _, img := range []image.Image{painted(7, 5), seeThrough, gray(1, 9)} {
			b, err := c.Encode(img)
			if err != nil {
				t.Fatal(ext, err)
			}
			v, err := c.Decode(b)
			if err != nil {
				t.Fatal(ext, err)
			}
			got := v.(image.Image)
			if got.Bounds() != img.Bounds() || c.Lossless && !samePixels(got, img) {
				t.Errorf("%s: %T %v came back as %T %v", ext, img, img.Bounds(), got, got.Bounds())
			}
			again, err := c.Encode(img)
			if err != nil || !bytes.Equal(b, again) {
				t.Errorf("%s: one image has two encodings, %v", ext, err)
			}
		}
	}
}

func TestArraysAreWrittenAsImages(t *testing.T) {
	a, err := array.FromImage(painted(4, 3), 3)
	if err != nil {
		t.Fatal(err)
	}
	c := by(t, "png")
	for _, v := range []any{a, *a} {
		b, err := c.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Decode(b)
		if err != nil || !samePixels(got.(image.Image), painted(4, 3)) {
			t.Errorf("%T: %v, %v", v, got, err)
		}
	}
	for _, v := range []any{nil, "x", (*array.Array)(nil), array.Array{DType: array.Float32, Shape: []int{0}}, image.Black, image.NewGray(image.Rectangle{})} {
		if _, err := c.Encode(v); err == nil {
			t.Errorf("a %T was written as PNG", v)
		}
	}
}

func TestJPEGIsWrittenAtQuality80(t *testing.T) {
	b, err := by(t, "jpg").Encode(gray(8, 8))
	if err != nil {
		t.Fatal(err)
	}
	table := bytes.Index(b, []byte{0xff, 0xdb})
	if table < 0 || b[table+5] != 6 { // 16 at quality 50, scaled by 40 of 100
		t.Errorf("the first quantum is %d, want 6", b[table+5])
	}
}

// progressiveJPEG is an 8x8 gray image with one scan, of its mean only.
func progressiveJPEG(t testing.TB) []byte {
	flat := image.NewGray(image.Rect(0, 0, 8, 8))
	for i := range flat.Pix {
		flat.Pix[i] = 200
	}
	b, err := by(t, "jpg").Encode(flat)
	if err != nil {
		t.Fatal(err)
	}
	frame, scan := bytes.Index(b, []byte{0xff, 0xc0}), bytes.Index(b, []byte{0xff, 0xda})
	b[frame+1] = 0xc2 // SOF2
	b[scan+8] = 0     // the last coefficient of the scan
	return b
}

func TestProgressiveJPEGIsRead(t *testing.T) {
	v, err := by(t, "jpg").Decode(progressiveJPEG(t))
	if err != nil {
		t.Fatal(err)
	}
	if y := v.(*image.Gray).Pix[0]; y < 198 || y > 202 {
		t.Errorf("gray 200 was read as %d", y)
	}
}

// webP is a lossless WebP of one red pixel.
var webP = []byte("RIFF\x1c\x00\x00\x00WEBPVP8L\x0f\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\xfd\x8f\xfe\x07\x22\xa2\xff\x01\x00")

func TestWebPIsReadOnly(t *testing.T) {
	c := by(t, "webp")
	v, err := c.Decode(webP)
	if err != nil || v.(image.Image).Bounds() != image.Rect(0, 0, 1, 1) {
		t.Errorf("%v, %v", v, err)
	}
	if _, err := c.Encode(painted(1, 1)); !c.ReadOnly || !errors.Is(err, codec.ErrReadOnly) {
		t.Errorf("%v, %v", c.ReadOnly, err)
	}
}

// claim returns a PNG that claims w x h pixels and has none.
func claim(w, h uint32) []byte {
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("IHDR"), w), h)
	head = append(head, 8, 6, 0, 0, 0)
	b := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), head...)
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(head))
	return append(b, "\x00\x00\x00\x00IDAT\x35\xaf\x06\x1e"...)
}

func TestImagesThatClaimTooMuchAreRefused(t *testing.T) {
	c := by(t, "png")
	for _, size := range [][2]uint32{{1 << 30, 1 << 30}, {1 << 14, 1 << 14}, {1 << 31, 1}, {1 << 14, 1<<14 + 1}} {
		_, err := c.Decode(claim(size[0], size[1]))
		if err == nil {
			t.Errorf("%d x %d pixels were decoded", size[0], size[1])
		}
	}
	if _, err := c.Decode(claim(1<<14, 1<<14)); err == nil || !strings.Contains(err.Error(), "a file of") {
		t.Errorf("%v", err)
	}
	b, err := c.Encode(painted(10, 10))
	if err != nil {
		t.Fatal(err)
	}
	codec.MaxPixels.Store(99)
	defer codec.MaxPixels.Store(0)
	if _, err := c.Decode(b); err == nil || !strings.Contains(err.Error(), "MaxPixels") {
		t.Errorf("100 pixels where 99 are allowed: %v", err)
	}
	codec.MaxPixels.Store(100)
	if _, err := c.Decode(b); err != nil {
		t.Errorf("100 pixels where 100 are allowed: %v", err)
	}
}

func TestDamagedImagesAreErrors(t *testing.T) {
	for _, ext := range []string{"png", "bmp", "tiff", "jpeg", "gif"} {
		c := by(t, ext)
		b, err := c.Encode(painted(7, 5))
		if err != nil {
			t.Fatal(err)
		}
		for _, cut := range [][]byte{nil, b[:4], b[:len(b)/2], []byte("not an image")} {
			if v, err := c.Decode(cut); err == nil || !strings.HasPrefix(err.Error(), ext+": ") {
				t.Errorf("%s of %d bytes: %v, %v", ext, len(cut), v, err)
			}
		}
	}
}

// TestPagesThatClaimTooMuchAreRefused checks that the limit is for all pages and frames of a file together, whether or
// not they share bytes.
func TestPagesThatClaimTooMuchAreRefused(t *testing.T) {
	pages, err := array.New(array.Uint8, []int{5, 10, 10}, make([]byte, 500))
	if err != nil {
		t.Fatal(err)
	}
	file, err := by(t, "tiff").Encode(pages)
	if err != nil {
		t.Fatal(err)
	}
	frames := corpusFile(t, "frames.gif") // 3 of 17 x 23
	defer codec.MaxPixels.Store(0)
	for _, c := range []struct {
		ext  string
		file []byte
		all  int64
	}{{"tiff", file, 500}, {"gif", frames, 3 * 17 * 23}} {
		codec.MaxPixels.Store(c.all)
		if _, err := by(t, c.ext).Decode(c.file); err != nil {
			t.Errorf("%s of as many pixels as are allowed: %v", c.ext, err)
		}
		codec.MaxPixels.Store(c.all - 1)
		if _, err := by(t, c.ext).Decode(c.file); err == nil || !strings.Contains(err.Error(), "MaxPixels") {
			t.Errorf("%s of one pixel more than is allowed: %v", c.ext, err)
		}
	}
}

// TestAnimationsAreRefused checks that an animation is not silently reduced to one frame.
func TestAnimationsAreRefused(t *testing.T) {
	one, err := by(t, "png").Encode(painted(2, 2))
	if err != nil {
		t.Fatal(err)
	}
	body := append([]byte("acTL"), 0, 0, 0, 2, 0, 0, 0, 0)
	chunk := append([]byte{0, 0, 0, 8}, body...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(body))
	const head = 8 + 25 // the signature and IHDR
	png := append(append(bytes.Clone(one[:head]), chunk...), one[head:]...)
	webp := bytes.Clone(corpusFile(t, "lossy-alpha.webp"))
	webp[20] |= 2
	for ext, file := range map[string][]byte{"png": png, "webp": webp} {
		if _, err := by(t, ext).Decode(file); err == nil || !strings.Contains(err.Error(), "animation") {
			t.Errorf("%s: %v", ext, err)
		}
	}
}

// TestChannelsComeBack checks that written images have the channels of their type, even if all alpha is opaque, and
// numbers of any type.
func TestChannelsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dtype := rapid.SampledFrom([]array.DType{array.Uint8, array.Uint16, array.Uint32, array.Uint64, array.Int8, array.Int16, array.Int32, array.Int64, array.Float16, array.Float32, array.Float64}).Draw(t, "dtype")
		shape := rapid.SliceOfN(rapid.IntRange(1, 6), 2, 5).Draw(t, "shape")
		size, err := array.Bytes(dtype, shape)
		if err != nil {
			t.Fatal(err)
		}
		data := bytes.Repeat([]byte{255}, size)
		if rapid.Bool().Draw(t, "random") {
			data = append([]byte{}, rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "data")...)
		}
		a, err := array.New(dtype, shape, data)
		if err != nil {
			t.Fatal(err)
		}
		formats := []string{"tiff"}
		if a.IsImage() {
			formats = append(formats, "png")
		}
		for _, ext := range formats {
			b, err := mustBy(t, ext).Encode(a)
			if err != nil {
				t.Fatal(err)
			}
			v, err := mustBy(t, ext).Decode(b)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := v.(*array.Array)
			if img, is := v.(image.Image); is {
				if got, err = array.FromImage(img, 0); err != nil {
					t.Fatal(err)
				}
				ok = true
			}
			want := *a
			if n := len(shape); a.IsImage() && n == 3 && shape[2] == 1 { // one channel has no dimension
				want.Shape = shape[:2]
			}
			if !ok || !got.Equal(want) {
				t.Fatalf("%s: %v came back as %v", ext, want, v)
			}
		}
	})
}

// TestAlphaOfOthersIsWritten checks that an image.RGBA with alpha is written with it.
func TestAlphaOfOthersIsWritten(t *testing.T) {
	deep := image.NewRGBA64(image.Rect(0, 0, 2, 1))
	deep.SetRGBA64(0, 0, color.RGBA64{R: 7, G: 8, B: 9, A: 0xffff})
	for _, img := range []image.Image{&image.RGBA{Pix: []byte{1, 2, 3, 255, 0, 0, 0, 0}, Stride: 8, Rect: deep.Rect}, deep} {
		b, err := by(t, "png").Encode(img)
		if err != nil {
			t.Fatal(err)
		}
		v, err := by(t, "png").Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		got := v.(image.Image)
		for x := range 2 {
			r, g, b, a := got.At(x, 0).RGBA()
			wr, wg, wb, wa := img.At(x, 0).RGBA()
			if [4]uint32{r, g, b, a} != [4]uint32{wr, wg, wb, wa} {
				t.Errorf("%T: pixel %d is %v", img, x, got.At(x, 0))
			}
		}
	}
}

// TestCMYKWithoutAdobe checks that four unnamed channels are CMYK, as Pillow reads them.
func TestCMYKWithoutAdobe(t *testing.T) {
	b, err := os.ReadFile("testdata/cmyk-no-app14.jpg")
	if err != nil {
		t.Fatal(err)
	}
	c, _ := codec.ByExtension("jpg")
	v, err := c.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	img, ok := v.(*image.CMYK)
	if want := []byte{0, 0, 80, 20, 16, 0, 80, 20}; !ok || !bytes.Equal(img.Pix[:8], want) {
		t.Errorf("%T, %v; want %v", v, img.Pix[:8], want)
	}
}
