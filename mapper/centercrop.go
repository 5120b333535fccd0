package mapper

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"math/rand/v2"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
)

func init() {
	registerImages[CenterCrop]("center-crop", "Cuts a rectangle of a given size out of the middle of images.")
}

// CenterCrop crops the middle of images, like CenterCrop of torchvision. An image that is
// smaller than the rectangle is padded with black first. Pixels stay unchanged, as in
// [ImageCrop].
type CenterCrop struct {
	Items  []string `param:"items" doc:"the images, which are replaced" default:"[image]"`
	Width  int      `param:"width,required" doc:"width of the result"`
	Height int      `param:"height,required" doc:"height of the result"`
	Format string   `param:"format" doc:"format of the result" default:"png" enum:"png|jpeg|bmp|tiff"`
}

// Check refuses rectangles without pixels, and those that are too large.
func (m CenterCrop) Check() error { return checkRectangle(m.Width, m.Height) }

// checkRectangle refuses the size of a result that has no pixels or too many.
func checkRectangle(width, height int) error {
	if width < 1 || height < 1 {
		return fmt.Errorf("width is %d and height %d; give at least 1 for both", width, height)
	}
	return checkSize(width, height)
}

// Transform returns the mapper.
func (m CenterCrop) Transform() (dataset.Transform, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	return images{
		name: "center-crop", items: m.Items, format: m.Format,
		params: []key.Param{{Name: "width", Value: m.Width}, {Name: "height", Value: m.Height}},
		change: func(all []image.Image, random *rand.Rand) ([]image.Image, error) {
			return each(func(img image.Image) image.Image { return m.crop(rasterOf(img)) })(all, random)
		},
	}.transform()
}

func (m CenterCrop) crop(r raster) image.Image {
	right, down := max(0, m.Width-r.width()), max(0, m.Height-r.height())
	if right > 0 || down > 0 {
		r = rasterOf(r.pad(right/2, down/2, right-right/2, down-down/2, color.NRGBA{A: math.MaxUint8}))
	}
	return r.crop(middle(r.width()-m.Width), middle(r.height()-m.Height), m.Width, m.Height)
}

// middle returns where a part begins that leaves out n columns or rows. Halves go to the
// even number, as in Python.
func middle(n int) int { return int(math.RoundToEven(float64(n) / 2)) }
