// Package pixels holds pictures as planes of floats.
package pixels

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"

	"programs/p03/copied/draw"
	"programs/p03/copied/palette"
)

// A Plane is a grey picture of values from 0 to 1.
type Plane struct {
	W, H int
	Pix  []float32
}

// NewPlane returns a black plane.
func NewPlane(w, h int) *Plane { return &Plane{W: w, H: h, Pix: make([]float32, w*h)} }

// At returns a pixel; outside it is that of the border.
func (p *Plane) At(x, y int) float32 {
	x, y = min(max(x, 0), p.W-1), min(max(y, 0), p.H-1)
	return p.Pix[y*p.W+x]
}

// Set changes a pixel.
func (p *Plane) Set(x, y int, v float32) { p.Pix[y*p.W+x] = v }

// Clone copies.
func (p *Plane) Clone() *Plane {
	q := *p
	q.Pix = append([]float32(nil), p.Pix...)
	return &q
}

// FromImage converts any picture.
func FromImage(m image.Image) *Plane {
	b := m.Bounds()
	p := NewPlane(b.Dx(), b.Dy())
	for y := range p.H {
		for x := range p.W {
			g := color.GrayModel.Convert(m.At(b.Min.X+x, b.Min.Y+y)).(color.Gray)
			p.Set(x, y, float32(g.Y)/255)
		}
	}
	return p
}

// Image converts back.
func (p *Plane) Image() *image.Gray {
	m := image.NewGray(image.Rect(0, 0, p.W, p.H))
	for i, v := range p.Pix {
		m.Pix[i] = uint8(math.Round(float64(min(max(v, 0), 1)) * 255))
	}
	return m
}

// Bounds implements image.Image's method for a plane that is looked at in red.
func (p *Plane) Bounds() image.Rectangle { return image.Rect(0, 0, p.W, p.H) }

// Histogram counts values in n bins.
func (p *Plane) Histogram(n int) []int {
	h := make([]int, n)
	for _, v := range p.Pix {
		h[min(int(v*float32(n)), n-1)]++
	}
	return h
}

// Synth draws a test picture: circles on a gradient.
func Synth(size, circles int) *Plane {
	p := NewPlane(size, size)
	for y := range size {
		for x := range size {
			p.Set(x, y, float32(x+y)/float32(2*size))
			for c := range circles {
				cx, cy, r := (c*37)%size, (c*61)%size, 3+c%5
				if (x-cx)*(x-cx)+(y-cy)*(y-cy) < r*r {
					p.Set(x, y, float32(c%3)/2)
				}
			}
		}
	}
	return p
}

// Dither draws the picture with the colours of the web, Floyd-Steinberg.
func Dither(p *Plane) *image.Paletted {
	m := image.NewPaletted(p.Bounds(), palette.WebSafe)
	draw.FloydSteinberg.Draw(m, m.Bounds(), p.Image(), image.Point{})
	return m
}

// Sheet puts pictures side by side on a background.
func Sheet(background color.Color, planes ...*Plane) *image.RGBA {
	var size image.Point
	for _, p := range planes {
		size.X += p.W + 1
		size.Y = max(size.Y, p.H)
	}
	m := image.NewRGBA(image.Rectangle{Max: size})
	draw.Draw(m, m.Bounds(), image.NewUniform(background), image.Point{}, draw.Src)
	x := 0
	for _, p := range planes {
		draw.Draw(m, p.Bounds().Add(image.Pt(x, 0)), p.Image(), image.Point{}, draw.Over)
		x += p.W + 1
	}
	return m
}

var encoder = png.Encoder{CompressionLevel: png.BestSpeed}

// PNG encodes.
func PNG(m image.Image) ([]byte, error) {
	var b bytes.Buffer
	if err := encoder.Encode(&b, m); err != nil {
		return nil, fmt.Errorf("pixels: %w", err)
	}
	return b.Bytes(), nil
}
