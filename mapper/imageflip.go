package mapper

import (
	"fmt"
	"image"
	"math/rand/v2"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
)

func init() {
	registerImages[ImageFlip]("image-flip", "Flips images horizontally or vertically, each with a given probability.")
}

// ImageFlip flips images, all images of a sample alike. Pixels stay unchanged, as in
// [ImageCrop]. With probabilities of 0 and 1 alone it is not random, and does not
// depend on seed, epoch and position.
type ImageFlip struct {
	Items      []string `param:"items" doc:"the images, which are replaced; all are flipped alike" default:"[image]"`
	Horizontal float64  `param:"horizontal" doc:"probability from 0 to 1 of a horizontal flip" default:"0.5"`
	Vertical   float64  `param:"vertical" doc:"probability from 0 to 1 of a vertical flip" default:"0"`
	Format     string   `param:"format" doc:"format of the result" default:"png" enum:"png|jpeg|bmp|tiff"`
	Seed       int      `param:"seed" doc:"seed of the random draws" default:"0"`
	Epoch      int      `param:"epoch" doc:"number of the epoch; use ${epoch} for new draws in each epoch" default:"0"`
	Per        string   `param:"per" doc:"what a draw depends on, besides seed and epoch: the position of the sample in the dataset, or the content of its images" default:"position" enum:"position|content"`
}

// Check refuses invalid probabilities.
func (m ImageFlip) Check() error {
	for name, p := range map[string]float64{"horizontal": m.Horizontal, "vertical": m.Vertical} {
		if !(p >= 0 && p <= 1) {
			return fmt.Errorf("%s is %v; give a probability from 0 to 1", name, p)
		}
	}
	return nil
}

// Transform returns the mapper.
func (m ImageFlip) Transform() (dataset.Transform, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	random := &dataset.Random{Seed: m.Seed, Epoch: m.Epoch, Per: dataset.Per(m.Per)}
	if certain(m.Horizontal) && certain(m.Vertical) {
		random = nil
	}
	return images{
		name: "image-flip", items: m.Items, format: m.Format, random: random,
		params: []key.Param{{Name: "horizontal", Value: m.Horizontal}, {Name: "vertical", Value: m.Vertical}},
		change: func(all []image.Image, random *rand.Rand) ([]image.Image, error) {
			columns, rows := m.Horizontal == 1, m.Vertical == 1
			if random != nil { // always both, so that one probability does not affect the draws of the other
				columns, rows = random.Float64() < m.Horizontal, random.Float64() < m.Vertical
			}
			return each(func(img image.Image) image.Image { return rasterOf(img).flip(columns, rows) })(all, nil)
		},
	}.transform()
}

func certain(p float64) bool { return p == 0 || p == 1 }
