package array

import (
	"image"
	"testing"

	"github.com/larder-data/larder/internal/testing/testrand"
)

// TestAllOpaque checks that testing eight pixels at a time gives the same result as one by one, wherever the one non-opaque pixel is.
func TestAllOpaque(t *testing.T) {
	rand := testrand.New(t)
	for range 2000 {
		whole := image.NewRGBA(image.Rect(0, 0, 1+rand.IntN(40), 1+rand.IntN(4)))
		for i := range whole.Pix {
			whole.Pix[i] = 255
		}
		for range rand.IntN(3) {
			whole.Pix[rand.IntN(len(whole.Pix))] = byte(rand.IntN(256))
		}
		x, y := rand.IntN(whole.Rect.Dx()), rand.IntN(whole.Rect.Dy())
		m := whole.SubImage(image.Rect(x, y, x+1+rand.IntN(20), y+1+rand.IntN(4))).(*image.RGBA)
		if got, want := allOpaque(m), m.Opaque(); got != want {
			t.Fatalf("%v of %v: %v, want %v", m.Rect, whole.Rect, got, want)
		}
	}
}
