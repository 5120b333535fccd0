package mapper

import (
	"image"
	"math"
	"slices"

	"github.com/larder-data/larder/array"
)

// jitter8 changes an image with 8 bits per channel. Like the v2 transforms of torchvision
// for tensors of uint8, it rounds down after each property.
func jitter8(img image.Image, order []int, factors [4]float64) image.Image {
	var p bytePixels
	var out image.Image
	switch m := unpacked(img).(type) {
	case *image.Gray:
		grey := &image.Gray{Pix: packed(m.Pix, m.Stride, m.Rect, 1), Stride: m.Rect.Dx(), Rect: image.Rectangle{Max: m.Rect.Size()}}
		p, out = bytePixels{pix: grey.Pix, step: 1, grey: true}, grey
	case *array.GrayAlpha:
		grey := &array.GrayAlpha{Pix: packed(m.Pix, m.Stride, m.Rect, 2), Stride: 2 * m.Rect.Dx(), Rect: image.Rectangle{Max: m.Rect.Size()}}
		p, out = bytePixels{pix: grey.Pix, step: 2, grey: true}, grey
	case *image.RGBA: // opaque
		rgba := &image.RGBA{Pix: packed(m.Pix, m.Stride, m.Rect, 4), Stride: 4 * m.Rect.Dx(), Rect: image.Rectangle{Max: m.Rect.Size()}}
		p, out = bytePixels{pix: rgba.Pix, step: 4}, rgba
	case *image.NRGBA:
		nrgba := &image.NRGBA{Pix: packed(m.Pix, m.Stride, m.Rect, 4), Stride: 4 * m.Rect.Dx(), Rect: image.Rectangle{Max: m.Rect.Size()}}
		p, out = bytePixels{pix: nrgba.Pix, step: 4}, nrgba
	}
	const most = 1e6 // beyond it, all but the neutral grey is black or white
	for _, q := range order {
		f := float32(min(factors[q], most))
		switch {
		case q == brightness && f != 1:
			p.blend(f, 0)
		case q == contrast && f != 1:
			p.blend(f, p.mean())
		case q == saturation && f != 1 && !p.grey:
			p.saturate(f)
		case q == hue && f != 0 && !p.grey:
			p.turn(f)
		}
	}
	return out
}

// unpacked returns an image whose colours are not multiplied by alpha, as one of the types
// that jitter8 changes.
func unpacked(img image.Image) image.Image {
	switch m := img.(type) {
	case *array.GrayAlpha:
		return m
	case *image.Paletted:
		return looked(m)
	case *image.CMYK:
		return opaque(straight(m))
	}
	switch m := rasterOf(img).Image.(type) {
	case *image.Gray:
		return m
	case *image.RGBA:
		if m.Opaque() {
			return m
		}
	case *image.NRGBA:
		return m
	}
	return straight(img)
}

// packed copies the rows of an image without gaps.
func packed(pix []uint8, stride int, r image.Rectangle, bytes int) []uint8 {
	row := r.Dx() * bytes
	if stride == row {
		return slices.Clone(pix[:row*r.Dy()])
	}
	out := make([]uint8, 0, row*r.Dy())
	for y := range r.Dy() {
		out = append(out, pix[y*stride:][:row]...)
	}
	return out
}

// bytePixels are the pixels of an image, changed in place: grey, grey and alpha, or red,
// green, blue and alpha.
type bytePixels struct {
	pix  []uint8
	step int // bytes of a pixel
	grey bool
}

// blend interpolates all colours between grey (factor 0) and themselves (factor 1), or
// extrapolates.
func (p bytePixels) blend(factor, grey float32) {
	var table [256]uint8
	for i := range table {
		table[i] = uint8(min(255, max(0, float32(i)*factor+grey*(1-factor))))
	}
	switch p.step {
	case 1:
		for i, v := range p.pix {
			p.pix[i] = table[v]
		}
	case 2:
		for i := 0; i < len(p.pix); i += 2 {
			p.pix[i] = table[p.pix[i]]
		}
	default:
		for i := 0; i+4 <= len(p.pix); i += 4 {
			px := p.pix[i : i+4 : i+4]
			px[0], px[1], px[2] = table[px[0]], table[px[1]], table[px[2]]
		}
	}
}

// luminance returns the grey of a colour, by the weights of ITU-R 601, rounded down.
func luminance(r, g, b uint8) uint32 {
	return (299*uint32(r) + 587*uint32(g) + 114*uint32(b)) / 1000
}

// mean returns the mean grey of all pixels.
func (p bytePixels) mean() float32 {
	sum := uint64(0)
	if p.grey {
		for i := 0; i < len(p.pix); i += p.step {
			sum += uint64(p.pix[i])
		}
	} else {
		for i := 0; i+4 <= len(p.pix); i += 4 {
			px := p.pix[i : i+4 : i+4]
			sum += uint64(luminance(px[0], px[1], px[2]))
		}
	}
	return float32(float64(sum) / float64(len(p.pix)/p.step))
}

// saturate interpolates each colour between its own grey and itself, or extrapolates.
func (p bytePixels) saturate(factor float32) {
	// From a factor of 256 on, each difference from grey is more than a byte holds.
	own := int(math.Round(float64(min(factor, 256)) * 65536)) // with 16 bits of fraction
	for i := 0; i+4 <= len(p.pix); i += 4 {
		px := p.pix[i : i+4 : i+4]
		grey := (65536 - own) * int(luminance(px[0], px[1], px[2]))
		px[0] = uint8(min(255, max(0, (own*int(px[0])+grey)>>16)))
		px[1] = uint8(min(255, max(0, (own*int(px[1])+grey)>>16)))
		px[2] = uint8(min(255, max(0, (own*int(px[2])+grey)>>16)))
	}
}

// Positions on the circle of hues, in sixths of it, have hueBits bits of fraction.
const (
	hueBits = 20
	sixth   = 1 << hueBits
)

// shares[d] is a sixth divided by d.
var shares = func() (s [256]int) {
	for d := 1; d < len(s); d++ {
		s[d] = (sixth + d/2) / d
	}
	return s
}()

// turn rotates all hues by a fraction of the circle in the HSV model. Value and saturation
// stay.
func (p bytePixels) turn(share float32) {
	shift := int(math.Round(float64(share) * 6 * sixth))
	if shift < 0 {
		shift += 6 * sixth
	}
	for i := 0; i+4 <= len(p.pix); i += 4 {
		px := p.pix[i : i+4 : i+4]
		r, g, b := int(px[0]), int(px[1]), int(px[2])
		v := max(r, g, b)
		d := v - min(r, g, b)
		if d == 0 {
			continue
		}
		h := shift
		switch v {
		case r:
			h += (g - b) * shares[d]
		case g:
			h += 2*sixth + (b-r)*shares[d]
		default:
			h += 4*sixth + (r-g)*shares[d]
		}
		px[0] = turned(v, d, h+5*sixth)
		px[1] = turned(v, d, h+3*sixth)
		px[2] = turned(v, d, h+1*sixth)
	}
}

// turned returns a channel of a colour whose largest is v and whose range is d, at a
// position on the circle, of up to three circles. It falls from v to v-d within a sixth,
// and rises again two sixths later. Rounding down forgives an error of a thousandth.
func turned(v, d, at int) uint8 {
	if at >= 12*sixth {
		at -= 12 * sixth
	}
	if at >= 6*sixth {
		at -= 6 * sixth
	}
	fallen := min(sixth, max(0, min(at, 4*sixth-at)))
	return uint8((v*sixth - d*fallen + sixth/1024) >> hueBits)
}
