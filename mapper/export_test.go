package mapper

import (
	"image"
	"image/color"
)

var Measure = measure

func Crop(img image.Image, x, y, w, h int) image.Image { return rasterOf(img).crop(x, y, w, h) }

func Flip(img image.Image, columns, rows bool) image.Image { return rasterOf(img).flip(columns, rows) }

func Nearest(img image.Image, w, h int) image.Image { return rasterOf(img).nearest(w, h) }

func Pad(img image.Image, left, top, right, bottom int, fill color.NRGBA) image.Image {
	return rasterOf(img).pad(left, top, right, bottom, fill)
}

// Jitter changes an image by factors for brightness, contrast, saturation and hue, in a
// given order.
func Jitter(img image.Image, order []int, factors [4]float64) image.Image {
	return jitter(img, order, factors)
}

// Resample scales an image by a filter with integer arithmetic.
func Resample(img image.Image, w, h int, filter string) (image.Image, bool) {
	return resampled(img, w, h, filterOf(filter))
}

// Support is the radius of a filter in pixels, and At the weight at a distance.
func Support(filter string) (support float64, at func(float64) float64) {
	return filterOf(filter).Support, filterOf(filter).At
}
