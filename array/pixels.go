package array

import (
	"encoding/binary"
	"image"
	"image/color"
	"image/draw"
	"slices"
)

// appendPixels appends the pixels of an image, row by row. asIs says that the channels
// are those of its type.
func appendPixels(dst []byte, img image.Image, channels int, dtype DType, asIs bool) []byte {
	b := img.Bounds()
	if asIs {
		if pix, stride, size, ok := packed(img); ok {
			for y := range b.Dy() {
				dst = appendPacked(dst, pix[y*stride:][:size*b.Dx()], size, channels, dtype)
			}
			return dst
		}
	}
	if channels > 2 {
		if rgba := opaque(img); rgba != nil {
			for y := range rgba.Rect.Dy() {
				dst = appendPacked(dst, rgba.Pix[y*rgba.Stride:][:4*rgba.Rect.Dx()], 4, channels, Uint8)
			}
			return dst
		}
	}
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if dtype == Uint16 {
				dst = appendPixel16(dst, img.At(x, y), channels)
			} else {
				dst = appendPixel(dst, img, x, y, channels)
			}
		}
	}
	return dst
}

// packed returns the memory of an image whose channels are interleaved in it, and the
// bytes of one pixel.
func packed(img image.Image) (pix []byte, stride, size int, ok bool) {
	switch img := img.(type) {
	case *image.Gray:
		return img.Pix, img.Stride, 1, true
	case *image.Gray16:
		return img.Pix, img.Stride, 2, true
	case *GrayAlpha:
		return img.Pix, img.Stride, 2, true
	case *GrayAlpha16:
		return img.Pix, img.Stride, 4, true
	case *image.RGBA: // opaque, or asIs would be false
		return img.Pix, img.Stride, 4, true
	case *image.RGBA64:
		return img.Pix, img.Stride, 8, true
	case *image.NRGBA:
		return img.Pix, img.Stride, 4, true
	case *image.NRGBA64:
		return img.Pix, img.Stride, 8, true
	case *image.CMYK:
		return img.Pix, img.Stride, 4, true
	}
	return nil, 0, 0, false
}

// appendPacked appends the first channels of each pixel of a row. It converts 16-bit
// channels to little-endian.
func appendPacked(dst, row []byte, size, channels int, dtype DType) []byte {
	switch {
	case dtype == Uint16:
		for ; len(row) >= size; row = row[size:] {
			for c := range channels {
				dst = append(dst, row[2*c+1], row[2*c])
			}
		}
	case size == channels:
		dst = append(dst, row...)
	default: // three of four
		at, n := len(dst), len(row)/size*channels
		dst = slices.Grow(dst, n)[:at+n]
		to := dst[at:]
		for ; len(to) > 3; to, row = to[3:], row[4:] { // the fourth is overwritten
			binary.LittleEndian.PutUint32(to, binary.LittleEndian.Uint32(row))
		}
		copy(to, row)
	}
	return dst
}

// opaque returns the pixels of an image of the types that decoders return most, if all
// are opaque. It saves a call per pixel.
func opaque(img image.Image) *image.RGBA {
	switch img := img.(type) {
	case *image.RGBA:
		if allOpaque(img) {
			return img
		}
	case *image.YCbCr:
		rgba := image.NewRGBA(img.Rect)
		draw.Draw(rgba, rgba.Rect, img, rgba.Rect.Min, draw.Src)
		return rgba
	}
	return nil
}

func appendPixel(dst []byte, img image.Image, x, y, channels int) []byte {
	c := pixel(img, x, y)
	switch channels {
	case 1:
		return append(dst, grey(c))
	case 2:
		return append(dst, grey(c), c.A)
	case 3:
		return append(dst, c.R, c.G, c.B)
	}
	return append(dst, c.R, c.G, c.B, c.A)
}

// pixel returns a pixel without an allocation for the types that decoders return.
func pixel(img image.Image, x, y int) color.NRGBA {
	switch img := img.(type) {
	case *image.NRGBA:
		return img.NRGBAAt(x, y)
	case *image.Gray:
		c := img.GrayAt(x, y)
		return color.NRGBA{c.Y, c.Y, c.Y, 255}
	}
	return color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
}

func appendPixel16(dst []byte, c color.Color, channels int) []byte {
	le := binary.LittleEndian
	n := color.NRGBA64Model.Convert(c).(color.NRGBA64)
	switch channels {
	case 1:
		return le.AppendUint16(dst, grey16(n))
	case 2:
		return le.AppendUint16(le.AppendUint16(dst, grey16(n)), n.A)
	}
	dst = le.AppendUint16(le.AppendUint16(le.AppendUint16(dst, n.R), n.G), n.B)
	if channels == 4 {
		dst = le.AppendUint16(dst, n.A)
	}
	return dst
}

// grey returns the brightness of a colour, ignoring alpha.
func grey(c color.NRGBA) uint8 {
	return color.GrayModel.Convert(color.RGBA{c.R, c.G, c.B, 255}).(color.Gray).Y
}

func grey16(c color.NRGBA64) uint16 {
	return color.Gray16Model.Convert(color.RGBA64{c.R, c.G, c.B, 0xffff}).(color.Gray16).Y
}
