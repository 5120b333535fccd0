package mapper

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
)

func init() {
	registerImages[ColorJitter]("color-jitter", "Changes brightness, contrast, saturation and hue of images at random.")
}

// ColorJitter changes brightness, contrast, saturation and hue by random factors in
// random order, like ColorJitter of torchvision. Factors are uniform in their ranges:
//
//   - brightness multiplies all colours by the factor;
//   - contrast moves colours away from the mean grey of the image, or towards it;
//   - saturation moves colours away from their own grey, or towards it;
//   - hue rotates hues by this fraction of the circle.
//
// A range is a list of two numbers, or one number x for [max(0, 1-x), 1+x]; for hue, x
// from 0 to 0.5 means [-x, x]. Without a range the property does not change. Images with
// 8 bits per channel are rounded down after each property, as the v2 transforms of
// torchvision do with tensors of uint8; those with 16 bits are rounded once, at the end.
// Channels and depth stay, but palette and CMYK images become RGB. Saturation and hue do
// not change grey images, and alpha never changes.
type ColorJitter struct {
	Items      []string `param:"items" doc:"the images, which are replaced; all get the same changes" default:"[image]"`
	Brightness any      `param:"brightness" doc:"range of the factor: [low, high], or x for [max(0, 1-x), 1+x]"`
	Contrast   any      `param:"contrast" doc:"range of the factor: [low, high], or x for [max(0, 1-x), 1+x]"`
	Saturation any      `param:"saturation" doc:"range of the factor: [low, high], or x for [max(0, 1-x), 1+x]"`
	Hue        any      `param:"hue" doc:"hue shift as a fraction of the colour circle: [low, high], or h for [-h, h]; from -0.5 to 0.5"`
	Format     string   `param:"format" doc:"format of the result" default:"png" enum:"png|jpeg|bmp|tiff"`
	Seed       int      `param:"seed" doc:"seed of the random draws" default:"0"`
	Epoch      int      `param:"epoch" doc:"number of the epoch; use ${epoch} for new draws in each epoch" default:"0"`
	Per        string   `param:"per" doc:"what a draw depends on, besides seed and epoch: the position of the sample in the dataset, or the content of its images" default:"position" enum:"position|content"`
}

type span struct{ From, To float64 }

// spans reads the ranges, in the order brightness, contrast, saturation, hue. Missing
// ones are 1 to 1, and 0 to 0 for hue.
func (m ColorJitter) spans() (s [4]span, err error) {
	for i, q := range []struct {
		name  string
		given any
	}{{"brightness", m.Brightness}, {"contrast", m.Contrast}, {"saturation", m.Saturation}, {"hue", m.Hue}} {
		if i == hue {
			s[i], err = readSpan(q.given, 0, -0.5, 0.5)
		} else {
			s[i], err = readSpan(q.given, 1, 0, math.MaxFloat32)
		}
		if err != nil {
			return s, fmt.Errorf("%s: %w", q.name, err)
		}
	}
	return s, nil
}

// readSpan reads a range around the neutral factor.
func readSpan(v any, neutral, least, greatest float64) (span, error) {
	if v == nil {
		return span{neutral, neutral}, nil
	}
	s, ok := span{}, false
	if x, single := number(v); single {
		if !(x >= 0) {
			return s, fmt.Errorf("%v is negative; give a number of 0 or more, or a list of two numbers", x)
		}
		s, ok = span{neutral - x, neutral + x}, true
		if neutral != 0 {
			s.From = max(0, s.From)
		}
	} else if list, pair := v.([]any); pair && len(list) == 2 {
		var from, to bool
		s.From, from = number(list[0])
		s.To, to = number(list[1])
		ok = from && to
	} else if list, pair := v.([]float64); pair && len(list) == 2 {
		s, ok = span{list[0], list[1]}, true
	}
	switch {
	case !ok:
		return s, fmt.Errorf("%v is not a range; give a number or a list of two numbers", v)
	case !(s.From <= s.To) || s.From < least || s.To > greatest:
		return s, fmt.Errorf("%v is the range %v to %v; give an ascending range within %v to %v", v, s.From, s.To, least, greatest)
	}
	return s, nil
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int64:
		return float64(v), true
	case int:
		return float64(v), true
	}
	return 0, false
}

// Check refuses invalid ranges.
func (m ColorJitter) Check() error {
	_, err := m.spans()
	return err
}

// Transform returns the mapper.
func (m ColorJitter) Transform() (dataset.Transform, error) {
	spans, err := m.spans()
	if err != nil {
		return nil, err
	}
	return images{
		name: "color-jitter", items: m.Items, format: m.Format, random: &dataset.Random{Seed: m.Seed, Epoch: m.Epoch, Per: dataset.Per(m.Per)},
		params: []key.Param{{Name: "brightness", Value: spans[brightness]}, {Name: "contrast", Value: spans[contrast]}, {Name: "saturation", Value: spans[saturation]}, {Name: "hue", Value: spans[hue]}},
		change: jittered(spans),
	}.transform()
}

// jittered returns the function that draws from spans and changes images.
func jittered(spans [4]span) func([]image.Image, *rand.Rand) ([]image.Image, error) {
	return func(all []image.Image, random *rand.Rand) ([]image.Image, error) {
		order := random.Perm(len(spans))
		var factors [4]float64
		for i, s := range spans { // always all, so that one range does not affect the draws for another
			factors[i] = s.From + random.Float64()*(s.To-s.From)
		}
		return each(func(img image.Image) image.Image { return jitter(img, order, factors) })(all, nil)
	}
}

// The properties, as indexes.
const (
	brightness = iota
	contrast
	saturation
	hue
)

func jitter(img image.Image, order []int, factors [4]float64) image.Image {
	if _, depth := array.Channels(img); depth == array.Uint16 {
		return jitter16(img, order, factors)
	}
	return jitter8(img, order, factors)
}
