package resample

import (
	"image"
	"os"
	"testing"

	"golang.org/x/image/draw"
	"golang.org/x/sys/unix"
)

// TestNothingBehindPixelsIsRead checks pixels that end where mapped memory ends.
func TestNothingBehindPixelsIsRead(t *testing.T) {
	page := os.Getpagesize()
	memory, err := unix.Mmap(-1, 0, 17*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(memory); err != nil {
			t.Error(err)
		}
	})
	if err := unix.Mprotect(memory[16*page:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	for width := 1; width < 70; width++ {
		for _, to := range []image.Point{{3, 3}, {40, 20}, {width, 9}} {
			size := image.Pt(width, 9)
			pix := memory[:16*page][16*page-4*width*9:]
			out := memory[:16*page][:4*to.X*to.Y]
			Scale(Pixels{out, 4 * to.X, to}, Pixels{pix, 4 * width, size}, Colour, draw.BiLinear)
		}
	}
}
