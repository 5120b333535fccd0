package mapper

import (
	"cmp"
	"fmt"
	"image"
	"math"
	"math/rand/v2"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
)

func init() {
	registerImages[RandomResizedCrop]("random-resized-crop", "Cuts a rectangle of random place, size and shape out of images, and scales it.")
}

// RandomResizedCrop crops a random rectangle, the same in all images of a sample, and
// scales it, like RandomResizedCrop of torchvision. Images must have the same size. The
// area is uniform in its range, and the ratio of width to height in the logarithm of its
// range. If ten draws do not fit into the image, the rectangle is the largest in the
// middle with a ratio in the range.
type RandomResizedCrop struct {
	Items  []string  `param:"items" doc:"the images, which are replaced; all are cut at the same position" default:"[image]"`
	Width  int       `param:"width,required" doc:"width of the result"`
	Height int       `param:"height,required" doc:"height of the result"`
	Scale  []float64 `param:"scale" doc:"range of the area, as a share of the image: two numbers above 0, at most 1" default:"[0.08, 1]"`
	Ratio  []float64 `param:"ratio" doc:"range of the ratio of width to height: two numbers above 0" default:"[0.75, 1.3333]"`
	Filter string    `param:"filter" doc:"interpolation, as in image-resize" default:"bilinear" enum:"nearest|box|bilinear|catmull-rom|lanczos"`
	Format string    `param:"format" doc:"format of the result" default:"png" enum:"png|jpeg|bmp|tiff"`
	Seed   int       `param:"seed" doc:"seed of the random draws" default:"0"`
	Epoch  int       `param:"epoch" doc:"number of the epoch; use ${epoch} for new draws in each epoch" default:"0"`
	Per    string    `param:"per" doc:"what a draw depends on, besides seed and epoch: the position of the sample in the dataset, or the content of its images" default:"position" enum:"position|content"`
}

// Check refuses invalid sizes and ranges.
func (m RandomResizedCrop) Check() error {
	if err := checkRectangle(m.Width, m.Height); err != nil {
		return err
	}
	_, err := m.ranges()
	return err
}

// ranges returns the ranges of areas and ratios.
func (m RandomResizedCrop) ranges() (r areaRanges, err error) {
	return readAreaRanges(m.Scale, span{0.08, 1}, m.Ratio, span{0.75, 1.3333})
}

// Transform returns the mapper.
func (m RandomResizedCrop) Transform() (dataset.Transform, error) {
	ranges, err := m.ranges()
	if err == nil {
		err = m.Check()
	}
	if err != nil {
		return nil, err
	}
	resize := ImageResize{Width: m.Width, Height: m.Height, Filter: cmp.Or(m.Filter, "bilinear")}
	if err := resize.checkFilter(); err != nil {
		return nil, err
	}
	return images{
		name: "random-resized-crop", items: m.Items, format: m.Format, random: &dataset.Random{Seed: m.Seed, Epoch: m.Epoch, Per: dataset.Per(m.Per)},
		params: []key.Param{{Name: "width", Value: m.Width}, {Name: "height", Value: m.Height}, {Name: "scale", Value: ranges.scale}, {Name: "ratio", Value: ranges.ratio}, {Name: "filter", Value: resize.Filter}},
		change: croppingAndResizing(ranges, resize),
	}.transform()
}

// croppingAndResizing returns the function that draws a rectangle, cuts it out and scales it.
func croppingAndResizing(ranges areaRanges, resize ImageResize) func([]image.Image, *rand.Rand) ([]image.Image, error) {
	return func(all []image.Image, random *rand.Rand) ([]image.Image, error) {
		if err := oneSize(all); err != nil {
			return nil, err
		}
		part := ranges.rectangle(all[0].Bounds().Size(), random)
		out := make([]image.Image, len(all))
		for i, img := range all {
			cut := rasterOf(img).crop(part.Min.X, part.Min.Y, part.Dx(), part.Dy())
			var err error
			if out[i], err = resize.scale(cut, part.Size()); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
}

// areaRanges are the ranges from which the size of a rectangle is drawn.
type areaRanges struct {
	scale span // area, as a share of the image
	ratio span // width by height
}

// readAreaRanges reads two lists of two numbers; nil means the default.
func readAreaRanges(scale []float64, defaultScale span, ratio []float64, defaultRatio span) (r areaRanges, err error) {
	if r.scale, err = readPair("scale", scale, defaultScale, 1); err != nil {
		return r, err
	}
	r.ratio, err = readPair("ratio", ratio, defaultRatio, math.MaxFloat32)
	return r, err
}

func readPair(name string, pair []float64, otherwise span, most float64) (span, error) {
	if pair == nil {
		return otherwise, nil
	}
	if len(pair) != 2 || !(pair[0] > 0 && pair[0] <= pair[1] && pair[1] <= most) {
		return span{}, fmt.Errorf("%s: %v is not a range of numbers from above 0 to %v; give two numbers, the smaller one first", name, pair, most)
	}
	return span{pair[0], pair[1]}, nil
}

// draw returns a random number from the range.
func (s span) draw(random *rand.Rand) float64 { return s.From + random.Float64()*(s.To-s.From) }

// drawSize draws an area and a ratio, and returns the sides of a rectangle that has them.
func (r areaRanges) drawSize(whole image.Point, random *rand.Rand) (width, height int) {
	area := float64(whole.X) * float64(whole.Y) * r.scale.draw(random)
	ratio := math.Exp(span{math.Log(r.ratio.From), math.Log(r.ratio.To)}.draw(random))
	return int(math.RoundToEven(math.Sqrt(area * ratio))), int(math.RoundToEven(math.Sqrt(area / ratio)))
}

// attempts is the number of draws of a rectangle that must fit into an image.
const attempts = 10

// rectangle returns a random part of an image.
func (r areaRanges) rectangle(whole image.Point, random *rand.Rand) image.Rectangle {
	for range attempts {
		w, h := r.drawSize(whole, random)
		if w > 0 && h > 0 && w <= whole.X && h <= whole.Y {
			return image.Rect(0, 0, w, h).Add(image.Pt(random.IntN(whole.X-w+1), random.IntN(whole.Y-h+1)))
		}
	}
	w, h := whole.X, whole.Y
	switch ratio := float64(w) / float64(h); {
	case ratio < r.ratio.From:
		h = max(1, int(math.RoundToEven(float64(w)/r.ratio.From)))
	case ratio > r.ratio.To:
		w = max(1, int(math.RoundToEven(float64(h)*r.ratio.To)))
	}
	return image.Rect(0, 0, w, h).Add(image.Pt((whole.X-w)/2, (whole.Y-h)/2))
}
