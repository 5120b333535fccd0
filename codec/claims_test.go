package codec

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"testing"
)

// TestPNGClaimsWhatItsHeaderSays compares the claims with those of package image/png.
func TestPNGClaimsWhatItsHeaderSays(t *testing.T) {
	bounds := image.Rect(0, 0, 5, 3)
	for _, img := range []image.Image{
		image.NewGray(bounds), image.NewGray16(bounds), image.NewNRGBA(bounds), image.NewRGBA64(bounds), image.NewNRGBA64(bounds),
		image.NewPaletted(bounds, color.Palette{color.White, color.Black}),
	} {
		var b bytes.Buffer
		if err := png.Encode(&b, img); err != nil {
			t.Fatal(err)
		}
		if got, want := claimsPNG(b.Bytes()), claims(png.DecodeConfig)(b.Bytes()); got != want || got == 0 {
			t.Errorf("%T: %d bytes, want %d", img, got, want)
		}
		huge := bytes.Clone(b.Bytes())
		huge[16], huge[20] = 0xff, 0xff
		if got := claimsPNG(huge); got != 0 || claimsPNG(huge[:20]) != 0 {
			t.Errorf("%T: an image that is refused claims %d bytes", img, got)
		}
	}
}

// TestJPEGClaimsWhatItsHeaderSays does the same for JPEG.
func TestJPEGClaimsWhatItsHeaderSays(t *testing.T) {
	bounds := image.Rect(0, 0, 50, 30)
	for _, img := range []image.Image{image.NewGray(bounds), image.NewRGBA(bounds)} {
		var b bytes.Buffer
		if err := jpeg.Encode(&b, img, nil); err != nil {
			t.Fatal(err)
		}
		want := claims(jpeg.DecodeConfig)(b.Bytes())
		filled := append([]byte{0xff, 0xd8, 0xff}, b.Bytes()[2:]...)
		for _, b := range [][]byte{b.Bytes(), filled} {
			if got := claimsJPEG(b); got != want || got == 0 {
				t.Errorf("%T: %d bytes, want %d", img, got, want)
			}
		}
		for end := range b.Bytes() { // no prefix claims more than the whole, or panics
			if got := claimsJPEG(b.Bytes()[:end]); got != 0 && got != want {
				t.Errorf("%T: the first %d bytes claim %d", img, end, got)
			}
		}
	}
}
