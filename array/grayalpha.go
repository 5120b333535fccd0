package array

import (
	"encoding/binary"
	"image"
	"image/color"
)

// GrayAlpha is an image of grey with alpha, two bytes per pixel. The standard library
// has no such type. Grey is not premultiplied by alpha.
type GrayAlpha struct {
	Pix    []uint8 // grey, alpha
	Stride int     // bytes from one row to the next
	Rect   image.Rectangle
}

// NewGrayAlpha returns an image of clear pixels.
func NewGrayAlpha(r image.Rectangle) *GrayAlpha {
	return &GrayAlpha{Pix: make([]uint8, 2*r.Dx()*r.Dy()), Stride: 2 * r.Dx(), Rect: r}
}

// ColorModel returns a model of colours that are not premultiplied.
func (p *GrayAlpha) ColorModel() color.Model { return color.NRGBAModel }

// Bounds returns the image's rectangle.
func (p *GrayAlpha) Bounds() image.Rectangle { return p.Rect }

// At returns a color.NRGBA, which is clear outside of the image.
func (p *GrayAlpha) At(x, y int) color.Color {
	if !(image.Point{x, y}.In(p.Rect)) {
		return color.NRGBA{}
	}
	at := p.PixOffset(x, y)
	v := p.Pix[at]
	return color.NRGBA{v, v, v, p.Pix[at+1]}
}

// Set sets a pixel to the grey and the alpha of a colour.
func (p *GrayAlpha) Set(x, y int, c color.Color) {
	if !(image.Point{x, y}.In(p.Rect)) {
		return
	}
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	at := p.PixOffset(x, y)
	p.Pix[at], p.Pix[at+1] = color.GrayModel.Convert(color.RGBA{n.R, n.G, n.B, 255}).(color.Gray).Y, n.A
}

// PixOffset returns the index of a pixel in Pix.
func (p *GrayAlpha) PixOffset(x, y int) int {
	return (y-p.Rect.Min.Y)*p.Stride + 2*(x-p.Rect.Min.X)
}

// GrayAlpha16 is [GrayAlpha] with 16 bits per channel, big-endian like the image types
// of the standard library.
type GrayAlpha16 struct {
	Pix    []uint8 // grey, alpha: two bytes each
	Stride int     // bytes from one row to the next
	Rect   image.Rectangle
}

// NewGrayAlpha16 returns an image of clear pixels.
func NewGrayAlpha16(r image.Rectangle) *GrayAlpha16 {
	return &GrayAlpha16{Pix: make([]uint8, 4*r.Dx()*r.Dy()), Stride: 4 * r.Dx(), Rect: r}
}

// ColorModel returns a model of colours that are not premultiplied.
func (p *GrayAlpha16) ColorModel() color.Model { return color.NRGBA64Model }

// Bounds returns the image's rectangle.
func (p *GrayAlpha16) Bounds() image.Rectangle { return p.Rect }

// At returns a color.NRGBA64, which is clear outside of the image.
func (p *GrayAlpha16) At(x, y int) color.Color {
	if !(image.Point{x, y}.In(p.Rect)) {
		return color.NRGBA64{}
	}
	at := p.PixOffset(x, y)
	v := binary.BigEndian.Uint16(p.Pix[at:])
	return color.NRGBA64{v, v, v, binary.BigEndian.Uint16(p.Pix[at+2:])}
}

// Set sets a pixel to the grey and the alpha of a colour.
func (p *GrayAlpha16) Set(x, y int, c color.Color) {
	if !(image.Point{x, y}.In(p.Rect)) {
		return
	}
	n := color.NRGBA64Model.Convert(c).(color.NRGBA64)
	at := p.PixOffset(x, y)
	grey := color.Gray16Model.Convert(color.RGBA64{n.R, n.G, n.B, 0xffff}).(color.Gray16).Y
	binary.BigEndian.PutUint16(p.Pix[at:], grey)
	binary.BigEndian.PutUint16(p.Pix[at+2:], n.A)
}

// PixOffset returns the index of a pixel in Pix.
func (p *GrayAlpha16) PixOffset(x, y int) int {
	return (y-p.Rect.Min.Y)*p.Stride + 4*(x-p.Rect.Min.X)
}
