package mapper

import (
	"fmt"
	"image"
	"math/rand/v2"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
)

func init() {
	registerImages[ImageCrop]("image-crop", "Cuts a rectangle out of images.")
	registerImages[RandomCrop]("random-crop", "Cuts a rectangle of a given size out of images, at a random position.")
}

// ImageCrop crops a rectangle from images. Pixels stay unchanged: grey stays grey, 16
// bits stay 16, a palette stays. Colours of JPEG files become RGB. A rectangle that is
// not wholly inside is an error; image-pad enlarges images.
type ImageCrop struct {
	Items  []string `param:"items" doc:"the images, which are replaced" default:"[image]"`
	X      int      `param:"x" doc:"columns to cut off on the left"`
	Y      int      `param:"y" doc:"rows to cut off at the top"`
	Width  int      `param:"width" doc:"width of the result; 0 means up to the right border"`
	Height int      `param:"height" doc:"height of the result; 0 means down to the bottom"`
	Format string   `param:"format" doc:"format of the result" default:"png" enum:"png|jpeg|bmp|tiff"`
}

// Check refuses negative numbers.
func (m ImageCrop) Check() error {
	if min(m.X, m.Y, m.Width, m.Height) < 0 {
		return fmt.Errorf("x is %d, y %d, width %d and height %d; give numbers of 0 or more", m.X, m.Y, m.Width, m.Height)
	}
	return nil
}

// Transform returns the mapper.
func (m ImageCrop) Transform() (dataset.Transform, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	return images{
		name: "image-crop", items: m.Items, format: m.Format,
		params: []key.Param{{Name: "x", Value: m.X}, {Name: "y", Value: m.Y}, {Name: "width", Value: m.Width}, {Name: "height", Value: m.Height}},
		change: func(all []image.Image, _ *rand.Rand) ([]image.Image, error) {
			out := make([]image.Image, len(all))
			for i, img := range all {
				size := img.Bounds().Size()
				w, h := m.Width, m.Height
				if w == 0 {
					w = size.X - m.X
				}
				if h == 0 {
					h = size.Y - m.Y
				}
				if w <= 0 || h <= 0 || m.X > size.X-w || m.Y > size.Y-h {
					return nil, fmt.Errorf("a crop of %d x %d pixels at (%d, %d) exceeds the image of %d x %d; crop less, or enlarge it with image-pad", m.Width, m.Height, m.X, m.Y, size.X, size.Y)
				}
				out[i] = rasterOf(img).crop(m.X, m.Y, w, h)
			}
			return out, nil
		},
	}.transform()
}

// RandomCrop crops a rectangle from images, at the same random position in each. They
// must have the same size, and be at least as large as the rectangle. Pixels stay
// unchanged, as in [ImageCrop].
type RandomCrop struct {
	Items  []string `param:"items" doc:"the images, which are replaced; all are cut at the same position" default:"[image]"`
	Width  int      `param:"width,required" doc:"width of the result"`
	Height int      `param:"height,required" doc:"height of the result"`
	Format string   `param:"format" doc:"format of the result" default:"png" enum:"png|jpeg|bmp|tiff"`
	Seed   int      `param:"seed" doc:"seed of the random draws" default:"0"`
	Epoch  int      `param:"epoch" doc:"number of the epoch; use ${epoch} for new draws in each epoch" default:"0"`
	Per    string   `param:"per" doc:"what a draw depends on, besides seed and epoch: the position of the sample in the dataset, or the content of its images" default:"position" enum:"position|content"`
}

// Check refuses rectangles without pixels.
func (m RandomCrop) Check() error {
	if m.Width < 1 || m.Height < 1 {
		return fmt.Errorf("width is %d and height %d; give at least 1 for both", m.Width, m.Height)
	}
	return nil
}

// Transform returns the mapper.
func (m RandomCrop) Transform() (dataset.Transform, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	return images{
		name: "random-crop", items: m.Items, format: m.Format, random: &dataset.Random{Seed: m.Seed, Epoch: m.Epoch, Per: dataset.Per(m.Per)},
		params: []key.Param{{Name: "width", Value: m.Width}, {Name: "height", Value: m.Height}},
		change: func(all []image.Image, random *rand.Rand) ([]image.Image, error) {
			if err := oneSize(all); err != nil {
				return nil, err
			}
			size := all[0].Bounds().Size()
			if m.Width > size.X || m.Height > size.Y {
				return nil, fmt.Errorf("a crop of %d x %d pixels exceeds the image of %d x %d; enlarge it with image-pad", m.Width, m.Height, size.X, size.Y)
			}
			x, y := random.IntN(size.X-m.Width+1), random.IntN(size.Y-m.Height+1)
			return each(func(img image.Image) image.Image { return rasterOf(img).crop(x, y, m.Width, m.Height) })(all, nil)
		},
	}.transform()
}
