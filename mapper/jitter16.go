package mapper

import (
	"image"
	"image/color"
	"math"

	"github.com/larder-data/larder/array"
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

// jitter16 changes an image with 16 bits per channel.
func jitter16(img image.Image, order []int, factors [4]float64) image.Image {
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
}

func pixelsOf(img image.Image) *pixels {
	b := img.Bounds()
	n := b.Dx() * b.Dy()
	p := &pixels{rect: image.Rect(0, 0, b.Dx(), b.Dy()), colors: make([]rgb, 0, n), alpha: make([]uint16, 0, n)}
	channels, _ := array.Channels(img)
	p.grey, p.clear = channels < 3, channels%2 == 0
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := color.NRGBA64Model.Convert(img.At(x, y)).(color.NRGBA64)
			p.colors = append(p.colors, rgb{float64(c.R) / math.MaxUint16, float64(c.G) / math.MaxUint16, float64(c.B) / math.MaxUint16})
			p.alpha = append(p.alpha, c.A)
		}
	}
	return p
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
	case p.grey && p.clear:
		out := array.NewGrayAlpha16(p.rect)
		p.each(func(x, y int, c rgb, a uint16) {
			out.Set(x, y, color.NRGBA64{R: level(c[0]), G: level(c[0]), B: level(c[0]), A: a})
		})
		return out
	case p.grey:
		out := image.NewGray16(p.rect)
		p.each(func(x, y int, c rgb, _ uint16) { out.SetGray16(x, y, color.Gray16{Y: level(c[0])}) })
		return out
	case p.clear:
		out := image.NewNRGBA64(p.rect)
		p.each(func(x, y int, c rgb, a uint16) {
			out.SetNRGBA64(x, y, color.NRGBA64{R: level(c[0]), G: level(c[1]), B: level(c[2]), A: a})
		})
		return out
	}
	out := image.NewRGBA64(p.rect)
	p.each(func(x, y int, c rgb, _ uint16) {
		out.SetRGBA64(x, y, color.RGBA64{R: level(c[0]), G: level(c[1]), B: level(c[2]), A: math.MaxUint16})
	})
	return out
}

func level(v float64) uint16 { return uint16(v*math.MaxUint16 + 0.5) }

func (p *pixels) each(set func(x, y int, c rgb, alpha uint16)) {
	for i, c := range p.colors {
		set(i%p.rect.Dx(), i/p.rect.Dx(), c, p.alpha[i])
	}
}
