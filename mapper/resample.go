package mapper

import (
	"encoding/binary"
	"image"
	"image/color"

	"golang.org/x/image/draw"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/mapper/internal/resample"
)

// resampled scales an image with 8 bits per channel. It does the same as
// draw.Kernel.Scale with integers, rounds to the nearest level, and weights colours by
// their alpha. ok is false for other images. The result shares no memory with the
// image.
func resampled(img image.Image, w, h int, k *draw.Kernel) (out image.Image, ok bool) {
	bounds := image.Rect(0, 0, w, h)
	switch m := img.(type) {
	case *image.Gray:
		gray := image.NewGray(bounds)
		resample.Scale(bytesOf(gray.Pix, gray.Stride, bounds), bytesOf(m.Pix, m.Stride, m.Rect), resample.Grey, k)
		return gray, true
	case *image.RGBA:
		rgba := image.NewRGBA(bounds)
		resample.Scale(bytesOf(rgba.Pix, rgba.Stride, bounds), bytesOf(m.Pix, m.Stride, m.Rect), resample.Colour, k)
		return rgba, true
	case *image.NRGBA:
		nrgba, kind := image.NewNRGBA(bounds), resample.Alpha
		if m.Opaque() {
			kind = resample.Colour
		}
		resample.Scale(bytesOf(nrgba.Pix, nrgba.Stride, bounds), bytesOf(m.Pix, m.Stride, m.Rect), kind, k)
		return nrgba, true
	case *image.Paletted:
		return resampled(looked(m), w, h, k)
	case *array.GrayAlpha:
		scaled, _ := resampled(coloured(m), w, h, k)
		return uncoloured(scaled.(*image.NRGBA)), true
	}
	return nil, false
}

func bytesOf(pix []byte, stride int, r image.Rectangle) resample.Pixels {
	return resample.Pixels{Pix: pix, Stride: stride, Size: r.Size()}
}

// coloured converts grey with alpha to colours.
func coloured(m *array.GrayAlpha) *image.NRGBA {
	out := image.NewNRGBA(image.Rectangle{Max: m.Rect.Size()})
	for y := range out.Rect.Max.Y {
		from, to := m.Pix[y*m.Stride:], out.Pix[y*out.Stride:]
		for x := range out.Rect.Max.X {
			g := from[2*x]
			to[4*x], to[4*x+1], to[4*x+2], to[4*x+3] = g, g, g, from[2*x+1]
		}
	}
	return out
}

// uncoloured converts grey colours back.
func uncoloured(m *image.NRGBA) *array.GrayAlpha {
	out := array.NewGrayAlpha(m.Rect)
	for i := 0; i < len(m.Pix); i += 4 {
		out.Pix[i/2], out.Pix[i/2+1] = m.Pix[i], m.Pix[i+3]
	}
	return out
}

// looked returns the colours of an image with a palette.
func looked(m *image.Paletted) image.Image {
	var colours [256]uint32
	all := true
	for i, c := range m.Palette {
		c := color.NRGBAModel.Convert(c).(color.NRGBA)
		all = all && c.A == 255
		colours[i&255] = uint32(c.R) | uint32(c.G)<<8 | uint32(c.B)<<16 | uint32(c.A)<<24
	}
	out := image.NewNRGBA(image.Rectangle{Max: m.Rect.Size()})
	for y := range out.Rect.Max.Y {
		row := out.Pix[y*out.Stride:]
		for x, i := range m.Pix[y*m.Stride:][:out.Rect.Max.X] {
			binary.LittleEndian.PutUint32(row[4*x:], colours[i])
		}
	}
	if all {
		return opaque(out)
	}
	return out
}
