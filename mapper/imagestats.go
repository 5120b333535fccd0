package mapper

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"image/color"
	"math"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
)

func init() {
	component.RegisterMapper("image-stats", "Measures an image: size, and per channel the mean, standard deviation, least and greatest value.",
		func(_ *component.Env, p ImageStats) (dataset.Mapper, error) { return p.Maker() })
}

// ImageStats measures an image. The item it makes is a document with width,
// height, bits (8 or 16 a channel), channels (1 for grey, 3 for opaque colour,
// 4 with alpha, colours not premultiplied), and the lists mean, std (of the
// population), min and max with one number a channel.
type ImageStats struct {
	Item   string `param:"item" doc:"the image" default:"image"`
	Into   string `param:"into" doc:"the item to make" default:"stats"`
	Format string `param:"format" doc:"how the item is encoded" default:"json" enum:"json|yaml"`
}

// Maker returns the mapper.
func (m ImageStats) Maker() (dataset.Maker, error) {
	m.Item, m.Into, m.Format = cmp.Or(m.Item, "image"), cmp.Or(m.Into, "stats"), cmp.Or(m.Format, "json")
	return dataset.NewMaker(dataset.MakerFunc{
		Name: "image-stats", Code: key.Version("1"),
		Params: []key.Param{{Name: "into", Value: m.Into}, {Name: "format", Value: m.Format}},
		In:     []string{m.Item}, Out: []string{m.Into},
		Func: func(ctx context.Context, s dataset.Sample) (dataset.Sample, error) {
			img, err := imageItem(ctx, s, m.Item)
			if err != nil {
				return dataset.Sample{}, err
			}
			return oneItem(m.Into, m.Format, measure(img)), nil
		},
	})
}

// imageItem returns the value of an item that must be an image.
func imageItem(ctx context.Context, s dataset.Sample, name string) (image.Image, error) {
	v, err := s.Value(ctx, name)
	if err != nil {
		return nil, err
	}
	img, ok := v.(image.Image)
	if !ok {
		return nil, fmt.Errorf("item %s is a %T, not an image", name, v)
	}
	return img, nil
}

// channel sums up the values of one channel.
type channel struct {
	n, sum, squares uint64
	min, max        uint32
}

func (c *channel) add(v uint32) {
	if v < c.min || c.n == 0 {
		c.min = v
	}
	if v > c.max {
		c.max = v
	}
	c.n++
	c.sum += uint64(v)
	c.squares += uint64(v) * uint64(v)
}

func (c *channel) mean() float64 {
	if c.n == 0 {
		return 0
	}
	return float64(c.sum) / float64(c.n)
}

func (c *channel) std() float64 {
	if c.n == 0 {
		return 0
	}
	// n*squares and sum*sum are exact in 128 bits but not in a float64; the
	// deviation from the mean is small only where both are small.
	mean := c.mean()
	return math.Sqrt(max(0, float64(c.squares)/float64(c.n)-mean*mean))
}

// measure returns the document described at ImageStats.
func measure(img image.Image) map[string]any {
	channels, bits := scan(img)
	var mean, std, least, greatest []any
	for i := range channels {
		c := &channels[i]
		mean = append(mean, c.mean())
		std = append(std, c.std())
		least = append(least, int64(c.min))
		greatest = append(greatest, int64(c.max))
	}
	b := img.Bounds()
	return map[string]any{
		"width": int64(b.Dx()), "height": int64(b.Dy()),
		"channels": int64(len(channels)), "bits": bits,
		"mean": mean, "std": std, "min": least, "max": greatest,
	}
}

// scan sums up each channel of an image.
func scan(img image.Image) (channels []channel, bits int64) {
	switch img := img.(type) {
	case *image.Gray:
		return scanGray(img), 8
	case *image.YCbCr:
		return scanYCbCr(img), 8
	case *image.Gray16:
		return scanPixels(img, 1, func(c []uint32, x, y int) { c[0] = uint32(img.Gray16At(x, y).Y) }), 16
	case *image.RGBA64, *image.NRGBA64:
		return scanPixels(img, colours(img), func(c []uint32, x, y int) {
			p := color.NRGBA64Model.Convert(img.At(x, y)).(color.NRGBA64)
			c[0], c[1], c[2], c[3] = uint32(p.R), uint32(p.G), uint32(p.B), uint32(p.A)
		}), 16
	default:
		return scanPixels(img, colours(img), func(c []uint32, x, y int) {
			p := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
			c[0], c[1], c[2], c[3] = uint32(p.R), uint32(p.G), uint32(p.B), uint32(p.A)
		}), 8
	}
}

// colours returns how many channels a colour image has.
func colours(img image.Image) int {
	if o, ok := img.(interface{ Opaque() bool }); ok && o.Opaque() {
		return 3
	}
	return 4
}

func scanPixels(img image.Image, n int, at func(c []uint32, x, y int)) []channel {
	channels, b := make([]channel, n), img.Bounds()
	var values [4]uint32
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			at(values[:], x, y)
			for i := range channels {
				channels[i].add(values[i])
			}
		}
	}
	return channels
}

func scanGray(img *image.Gray) []channel {
	channels, b := make([]channel, 1), img.Rect
	for y := b.Min.Y; y < b.Max.Y; y++ {
		row := img.Pix[img.PixOffset(b.Min.X, y):]
		for _, v := range row[:b.Dx()] {
			channels[0].add(uint32(v))
		}
	}
	return channels
}

// scanYCbCr is what JPEG needs: no allocation and no look-up of offsets a pixel.
func scanYCbCr(img *image.YCbCr) []channel {
	channels, b := make([]channel, 3), img.Rect
	shift := chromaShift(img.SubsampleRatio)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		luma := img.Y[img.YOffset(b.Min.X, y):][:b.Dx()]
		chroma := img.COffset(b.Min.X, y) - b.Min.X>>shift
		for i, l := range luma {
			at := chroma + (b.Min.X+i)>>shift
			r, g, bl := color.YCbCrToRGB(l, img.Cb[at], img.Cr[at])
			channels[0].add(uint32(r))
			channels[1].add(uint32(g))
			channels[2].add(uint32(bl))
		}
	}
	return channels
}

// chromaShift is how many times two columns share one chroma value.
func chromaShift(r image.YCbCrSubsampleRatio) int {
	switch r {
	case image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420:
		return 1
	case image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410:
		return 2
	default:
		return 0
	}
}
