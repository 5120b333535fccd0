package codec

import (
	"fmt"
	"image"

	"github.com/larder-data/larder/internal/text/display"
)

// reduction returns the greatest divisor of the sides that leaves at least those of least:
// 1, 2, 4 or 8.
func reduction(whole, least image.Point) int {
	for _, by := range []int{8, 4, 2} {
		if whole.X/by >= max(least.X, 1) && whole.Y/by >= max(least.Y, 1) {
			return by
		}
	}
	return 1
}

// reduceJPEG reads the full image and averages, because image/jpeg has no reduced decoding.
func reduceJPEG(b []byte, least image.Point) (any, image.Point, error) {
	v, err := readImage("jpeg", b, decodeJPEG)
	if err != nil {
		return nil, image.Point{}, err
	}
	img, ok := v.(image.Image)
	if !ok {
		return nil, image.Point{}, fmt.Errorf("jpeg: %s is not an image", display.Value(v))
	}
	whole := img.Bounds().Size()
	return means(img, reduction(whole, least)), whole, nil
}

// means averages squares of by pixels a side, which may be smaller at the right and bottom
// edges. Inks stay inks.
func means(img image.Image, by int) image.Image {
	size := img.Bounds().Size()
	small := image.Rect(0, 0, (size.X+by-1)/by, (size.Y+by-1)/by)
	switch m := img.(type) {
	case *image.Gray:
		out := image.NewGray(small)
		meansOf(out.Pix, out.Stride, m.Pix, m.Stride, size, by, 1)
		return out
	case *image.RGBA:
		out := image.NewRGBA(small)
		meansOf(out.Pix, out.Stride, m.Pix, m.Stride, size, by, 4)
		return out
	}
	return img
}

func meansOf(to []byte, toStride int, from []byte, stride int, size image.Point, by, channels int) {
	for y := 0; y < size.Y; y += by {
		rows := min(by, size.Y-y)
		for x := 0; x < size.X; x += by {
			columns := min(by, size.X-x)
			at := to[y/by*toStride+x/by*channels:]
			for c := range channels {
				sum := 0
				for i := range rows {
					for j := range columns {
						sum += int(from[(y+i)*stride+(x+j)*channels+c])
					}
				}
				at[c] = byte((sum + rows*columns/2) / (rows * columns))
			}
		}
	}
}
