package mapper

import (
	"fmt"
	"image"
	"image/color"
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
// from 0 to 0.5 means [-x, x]. Without a range the property does not change. Values are
// rounded once, at the end. Channels and depth stay, but palette and CMYK images become
// RGB. Saturation and hue do not change grey images, and alpha never changes.
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

// rgb is a colour with channels from 0 to 1.
type rgb [3]float64

// grey returns the luminance of a colour, by the weights of ITU-R 601.
func (c rgb) grey() float64 { return (299*c[0] + 587*c[1] + 114*c[2]) / 1000 }

// towards interpolates between grey (factor 0) and c (factor 1), or extrapolates.
func (c rgb) towards(grey, factor float64) rgb {
	for i := range c {
		c[i] = clamp(grey + (c[i]-grey)*factor)
	}
	return c
}

func clamp(v float64) float64 { return min(1, max(0, v)) }

func jitter(img image.Image, order []int, factors [4]float64) image.Image {
	p := pixelsOf(img)
	for _, q := range order {
		f := factors[q]
		switch {
		case q == brightness && f != 1:
			p.change(func(c rgb) rgb { return c.towards(0, f) })
		case q == contrast && f != 1:
			mean := p.mean()
			p.change(func(c rgb) rgb { return c.towards(mean, f) })
		case q == saturation && f != 1 && !p.grey:
			p.change(func(c rgb) rgb { return c.towards(c.grey(), f) })
		case q == hue && f != 0 && !p.grey:
			p.change(func(c rgb) rgb { return c.turn(f) })
		}
	}
	return p.image()
}

// turn rotates a colour's hue by a fraction of the circle in the HSV model. Value and
// saturation stay.
func (c rgb) turn(share float64) rgb {
	v, low := max(c[0], c[1], c[2]), min(c[0], c[1], c[2])
	d := v - low
	if d == 0 {
		return c
	}
	var h float64 // in sixths of the circle
	switch v {
	case c[0]:
		h = (c[1] - c[2]) / d
	case c[1]:
		h = 2 + (c[2]-c[0])/d
	default:
		h = 4 + (c[0]-c[1])/d
	}
	h = math.Mod(h+6*share+12, 6)
	channel := func(offset float64) float64 { // falls from v to low and back, a third of the circle apart
		k := math.Mod(offset+h, 6)
		return v - d*clamp(min(k, 4-k))
	}
	return rgb{channel(5), channel(3), channel(1)}
}

// pixels is an image in floating point.
type pixels struct {
	rect   image.Rectangle
	colors []rgb
	alpha  []uint16
	grey   bool
	clear  bool // with alpha
	deep   bool // 16 bits
}

func pixelsOf(img image.Image) *pixels {
	r := rasterOf(img)
	if m, ok := r.Image.(*image.RGBA); ok && m.Opaque() { // then alpha changes no colour
		r = rasterOf(&image.NRGBA{Pix: m.Pix, Stride: m.Stride, Rect: m.Rect})
	}
	n := r.width() * r.height()
	p := &pixels{rect: image.Rect(0, 0, r.width(), r.height()), colors: make([]rgb, 0, n), alpha: make([]uint16, 0, n)}
	channels, depth := array.Channels(img)
	_, inks := img.(*image.CMYK)
	p.grey, p.clear, p.deep = channels < 3, channels%2 == 0 && !inks, depth == array.Uint16
	p.read(r)
	return p
}

// read reads an image. It has fast paths for the types that decoders return most.
func (p *pixels) read(r raster) {
	add := func(red, green, blue, alpha uint8) {
		p.colors = append(p.colors, rgb{float64(red) / math.MaxUint8, float64(green) / math.MaxUint8, float64(blue) / math.MaxUint8})
		p.alpha = append(p.alpha, uint16(alpha)*257)
	}
	for y := range r.height() {
		row := r.row(y)
		switch m := r.Image.(type) {
		case *image.Gray:
			for _, v := range row {
				add(v, v, v, math.MaxUint8)
			}
		case *image.NRGBA:
			for i := 0; i < len(row); i += 4 {
				add(row[i], row[i+1], row[i+2], row[i+3])
			}
		default:
			for x := range r.width() {
				c := color.NRGBA64Model.Convert(m.At(m.Bounds().Min.X+x, m.Bounds().Min.Y+y)).(color.NRGBA64)
				p.colors = append(p.colors, rgb{float64(c.R) / math.MaxUint16, float64(c.G) / math.MaxUint16, float64(c.B) / math.MaxUint16})
				p.alpha = append(p.alpha, c.A)
			}
		}
	}
}

func (p *pixels) change(f func(rgb) rgb) {
	for i, c := range p.colors {
		p.colors[i] = f(c)
	}
}

func (p *pixels) mean() float64 {
	sum := 0.0
	for _, c := range p.colors {
		sum += c.grey()
	}
	return sum / float64(len(p.colors))
}

func (p *pixels) image() image.Image {
	switch {
	case p.grey && p.clear && p.deep:
		out := array.NewGrayAlpha16(p.rect)
		p.each(func(x, y int, c rgb, a uint16) {
			out.Set(x, y, color.NRGBA64{R: deep(c[0]), G: deep(c[0]), B: deep(c[0]), A: a})
		})
		return out
	case p.grey && p.clear:
		out := array.NewGrayAlpha(p.rect)
		p.each(func(x, y int, c rgb, a uint16) {
			v := shallow(c[0])
			out.Set(x, y, color.NRGBA{R: v, G: v, B: v, A: uint8(a >> 8)})
		})
		return out
	case p.grey && p.deep:
		out := image.NewGray16(p.rect)
		p.each(func(x, y int, c rgb, _ uint16) { out.SetGray16(x, y, color.Gray16{Y: deep(c[0])}) })
		return out
	case p.grey:
		out := image.NewGray(p.rect)
		p.each(func(x, y int, c rgb, _ uint16) { out.SetGray(x, y, color.Gray{Y: shallow(c[0])}) })
		return out
	case p.deep && !p.clear:
		out := image.NewRGBA64(p.rect)
		p.each(func(x, y int, c rgb, _ uint16) {
			out.SetRGBA64(x, y, color.RGBA64{R: deep(c[0]), G: deep(c[1]), B: deep(c[2]), A: math.MaxUint16})
		})
		return out
	case p.deep:
		out := image.NewNRGBA64(p.rect)
		p.each(func(x, y int, c rgb, a uint16) {
			out.SetNRGBA64(x, y, color.NRGBA64{R: deep(c[0]), G: deep(c[1]), B: deep(c[2]), A: a})
		})
		return out
	}
	out := image.NewNRGBA(p.rect)
	p.each(func(x, y int, c rgb, a uint16) {
		out.SetNRGBA(x, y, color.NRGBA{R: shallow(c[0]), G: shallow(c[1]), B: shallow(c[2]), A: uint8(a >> 8)})
	})
	if !p.clear {
		return opaque(out)
	}
	return out
}

func deep(v float64) uint16   { return uint16(v*math.MaxUint16 + 0.5) }
func shallow(v float64) uint8 { return uint8(v*math.MaxUint8 + 0.5) }

func (p *pixels) each(set func(x, y int, c rgb, alpha uint16)) {
	for i, c := range p.colors {
		set(i%p.rect.Dx(), i/p.rect.Dx(), c, p.alpha[i])
	}
}
