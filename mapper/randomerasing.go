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
	registerImages[RandomErasing]("random-erasing", "Fills a random rectangle of images with one colour, with a given probability.")
}

// RandomErasing fills a random rectangle with one colour, the same rectangle in all images
// of a sample, like RandomErasing of torchvision. Images must have the same size. The
// ranges have the meaning of [RandomResizedCrop]; if ten draws do not fit into the image,
// it stays unchanged.
type RandomErasing struct {
	Items       []string  `param:"items" doc:"the images, which are replaced; the same rectangle of all is filled" default:"[image]"`
	Probability *float64  `param:"probability" doc:"probability from 0 to 1 of a rectangle being filled" default:"0.5"`
	Scale       []float64 `param:"scale" doc:"range of the area, as a share of the image: two numbers above 0, at most 1" default:"[0.02, 0.33]"`
	Ratio       []float64 `param:"ratio" doc:"range of the ratio of height to width: two numbers above 0" default:"[0.3, 3.3]"`
	Value       any       `param:"value" doc:"the colour: a level from 0 to 255 for all channels, or a list of red, green and blue" default:"0"`
	Format      string    `param:"format" doc:"format of the result" default:"png" enum:"png|jpeg|bmp|tiff"`
	Seed        int       `param:"seed" doc:"seed of the random draws" default:"0"`
	Epoch       int       `param:"epoch" doc:"number of the epoch; use ${epoch} for new draws in each epoch" default:"0"`
	Per         string    `param:"per" doc:"what a draw depends on, besides seed and epoch: the position of the sample in the dataset, or the content of its images" default:"position" enum:"position|content"`
}

// Check refuses invalid probabilities, ranges and colours.
func (m RandomErasing) Check() error {
	if p := m.probability(); !(p >= 0 && p <= 1) {
		return fmt.Errorf("probability is %v and must be from 0 to 1", p)
	}
	if _, err := m.fill(); err != nil {
		return err
	}
	_, err := m.ranges()
	return err
}

func (m RandomErasing) probability() float64 {
	if m.Probability == nil {
		return 0.5
	}
	return *m.Probability
}

func (m RandomErasing) ranges() (areaRanges, error) {
	return readAreaRanges(m.Scale, span{0.02, 0.33}, m.Ratio, span{0.3, 3.3})
}

// fill returns the colour.
func (m RandomErasing) fill() (c color.NRGBA, err error) {
	list, ok := m.Value.([]any)
	if m.Value == nil {
		list = []any{int64(0)}
	} else if !ok {
		list = []any{m.Value}
	}
	var levels [3]uint8
	if n := len(list); n != 1 && n != len(levels) {
		return c, fmt.Errorf("value: %v has %d levels; give one, or red, green and blue", m.Value, n)
	}
	for i := range levels {
		v, ok := number(list[i%len(list)])
		if !ok || !(v >= 0 && v <= math.MaxUint8) || v != math.Trunc(v) {
			return c, fmt.Errorf("value: %v is not an integer from 0 to 255", list[i%len(list)])
		}
		levels[i] = uint8(v)
	}
	return color.NRGBA{levels[0], levels[1], levels[2], math.MaxUint8}, nil
}

// Transform returns the mapper.
func (m RandomErasing) Transform() (dataset.Transform, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	fill, err := m.fill()
	if err != nil {
		return nil, err
	}
	ranges, err := m.ranges()
	if err != nil {
		return nil, err
	}
	p := m.probability()
	return images{
		name: "random-erasing", items: m.Items, format: m.Format, random: &dataset.Random{Seed: m.Seed, Epoch: m.Epoch, Per: dataset.Per(m.Per)},
		params: []key.Param{{Name: "probability", Value: p}, {Name: "scale", Value: ranges.scale}, {Name: "ratio", Value: ranges.ratio}, {Name: "value", Value: fill}},
		change: erasing(p, ranges, fill),
	}.transform()
}

// erasing returns the function that draws a rectangle and fills it.
func erasing(probability float64, ranges areaRanges, fill color.NRGBA) func([]image.Image, *rand.Rand) ([]image.Image, error) {
	return func(all []image.Image, random *rand.Rand) ([]image.Image, error) {
		if err := oneSize(all); err != nil {
			return nil, err
		}
		if random.Float64() >= probability {
			return all, nil
		}
		part, ok := ranges.inner(all[0].Bounds().Size(), random)
		if !ok {
			return all, nil
		}
		return each(func(img image.Image) image.Image { return erased(rasterOf(img), part, fill) })(all, nil)
	}
}

// inner returns a random rectangle with sides smaller than those of an image; its ratio is
// height by width.
func (r areaRanges) inner(whole image.Point, random *rand.Rand) (image.Rectangle, bool) {
	for range attempts {
		h, w := r.drawSize(whole, random)
		if w < whole.X && h < whole.Y {
			return image.Rect(0, 0, w, h).Add(image.Pt(random.IntN(whole.X-w+1), random.IntN(whole.Y-h+1))), true
		}
	}
	return image.Rectangle{}, false
}

// erased returns a copy with a filled rectangle, relative to the corner of the image.
func erased(r raster, part image.Rectangle, fill color.NRGBA) image.Image {
	out := rasterOf(r.with(fill).crop(0, 0, r.width(), r.height()))
	patch := out.blank(part.Dx(), part.Dy())
	if part.Empty() {
		return out.Image
	}
	patch.fill(fill)
	for y := range part.Dy() {
		copy(out.row(part.Min.Y + y)[part.Min.X*out.bytes:], patch.row(y))
	}
	return out.Image
}
