package mapper

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"math"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/text/display"
	"github.com/larder-data/larder/key"
)

func init() {
	component.RegisterMapper("image-stats", "Measures an image: size, and mean, standard deviation, minimum and maximum of each channel.",
		func(_ *component.Env, p ImageStats) (dataset.Mapper, error) { return p.Transform() }).Images = true
}

// ImageStats computes statistics of an image. Its item is a document with width,
// height, bits (8 or 16 per channel) and channels. It also has the lists mean, std (of
// the population), min and max with one number per channel. Channels are those of the
// file: 1 for grey, 2 with alpha, 3 for colour or a palette, 4 with alpha (colours not
// premultiplied) or for CMYK.
type ImageStats struct {
	Item   string `param:"item" doc:"the image" default:"image"`
	Into   string `param:"into" doc:"the item to add" default:"stats"`
	Format string `param:"format" doc:"format of the item" default:"json" enum:"json|yaml"`
}

// Transform returns the mapper.
func (m ImageStats) Transform() (dataset.Transform, error) {
	m.Item, m.Into, m.Format = cmp.Or(m.Item, "image"), cmp.Or(m.Into, "stats"), cmp.Or(m.Format, "json")
	return dataset.NewTransform(dataset.TransformFunc{
		Name: "image-stats", Formats: []string{m.Format},
		Params: []key.Param{{Name: "into", Value: m.Into}, {Name: "format", Value: m.Format}},
		In:     []string{m.Item}, Out: []string{m.Into},
		Func: func(ctx context.Context, s dataset.Sample) (dataset.Sample, error) {
			img, err := imageItem(ctx, s, m.Item)
			if err != nil {
				return dataset.Sample{}, err
			}
			stats, err := measure(img)
			if err != nil {
				return dataset.Sample{}, fmt.Errorf("item %s: %w", display.Name(m.Item), err)
			}
			return oneItem(m.Into, m.Format, stats), nil
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
		return nil, notImage(name, v)
	}
	return img, nil
}

func notImage(name string, v any) error {
	return fmt.Errorf("item %s is %s, not an image", display.Name(name), display.Value(v))
}

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
	// n*squares and sum*sum are exact in 128 bits but not in a float64; the deviation
	// from the mean is small only where both are small.
	mean := c.mean()
	return math.Sqrt(max(0, float64(c.squares)/float64(c.n)-mean*mean))
}

func measure(img image.Image) (map[string]any, error) {
	channels, bits, err := scan(img)
	if err != nil {
		return nil, err
	}
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
	}, nil
}

func scan(img image.Image) (channels []channel, bits int64, err error) {
	a, err := array.FromImage(img, 0)
	if err != nil {
		return nil, 0, err
	}
	n := 1
	if len(a.Shape) > 2 {
		n = a.Shape[2]
	}
	channels = make([]channel, n)
	if a.DType == array.Uint8 {
		for p := a.Data; len(p) >= n; p = p[n:] {
			for c := range channels {
				channels[c].add(uint32(p[c]))
			}
		}
		return channels, 8, nil
	}
	for p := a.Data; len(p) >= 2*n; p = p[2*n:] {
		for c := range channels {
			channels[c].add(uint32(binary.LittleEndian.Uint16(p[2*c:])))
		}
	}
	return channels, 16, nil
}
