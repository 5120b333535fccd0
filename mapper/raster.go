package mapper

import (
	"encoding/binary"
	"image"
	"image/color"
	"image/draw"
	"math/bits"
	"slices"

	"github.com/larder-data/larder/array"
)

// raster is an image whose type holds pixels in sequence, so that they can be moved as
// bytes without a change.
type raster struct {
	image.Image
	pix    []uint8
	stride int
	bytes  int // per pixel
}

// rasterOf returns img as a raster. Other types become RGBA, or NRGBA if they may have
// alpha: YCbCr of JPEG files, and types outside of package image.
func rasterOf(img image.Image) raster {
	switch m := img.(type) {
	case *image.Gray:
		return raster{m, m.Pix, m.Stride, 1}
	case *image.Gray16:
		return raster{m, m.Pix, m.Stride, 2}
	case *image.Alpha:
		return raster{m, m.Pix, m.Stride, 1}
	case *image.Alpha16:
		return raster{m, m.Pix, m.Stride, 2}
	case *image.Paletted:
		return raster{m, m.Pix, m.Stride, 1}
	case *array.GrayAlpha:
		return raster{m, m.Pix, m.Stride, 2}
	case *array.GrayAlpha16:
		return raster{m, m.Pix, m.Stride, 4}
	case *image.CMYK:
		return raster{m, m.Pix, m.Stride, 4}
	case *image.RGBA:
		return raster{m, m.Pix, m.Stride, 4}
	case *image.NRGBA:
		return raster{m, m.Pix, m.Stride, 4}
	case *image.RGBA64:
		return raster{m, m.Pix, m.Stride, 8}
	case *image.NRGBA64:
		return raster{m, m.Pix, m.Stride, 8}
	case *image.YCbCr:
		rgba := image.NewRGBA(m.Rect)
		draw.Draw(rgba, m.Rect, m, m.Rect.Min, draw.Src)
		return rasterOf(rgba)
	}
	return rasterOf(straight(img))
}

// straight returns a copy of any image with 8 bits per channel, colours not
// premultiplied by alpha.
func straight(img image.Image) *image.NRGBA {
	b := img.Bounds()
	out := image.NewNRGBA(b)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			out.SetNRGBA(x, y, color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA))
		}
	}
	return out
}

// blank returns a raster of the same type and another size, with its corner at the
// origin.
func (r raster) blank(width, height int) raster {
	rect := image.Rect(0, 0, width, height)
	switch m := r.Image.(type) {
	case *image.Gray:
		return rasterOf(image.NewGray(rect))
	case *image.Gray16:
		return rasterOf(image.NewGray16(rect))
	case *image.Alpha:
		return rasterOf(image.NewAlpha(rect))
	case *image.Alpha16:
		return rasterOf(image.NewAlpha16(rect))
	case *image.Paletted:
		return rasterOf(image.NewPaletted(rect, m.Palette))
	case *array.GrayAlpha:
		return rasterOf(array.NewGrayAlpha(rect))
	case *array.GrayAlpha16:
		return rasterOf(array.NewGrayAlpha16(rect))
	case *image.CMYK:
		return rasterOf(image.NewCMYK(rect))
	case *image.RGBA:
		return rasterOf(image.NewRGBA(rect))
	case *image.RGBA64:
		return rasterOf(image.NewRGBA64(rect))
	case *image.NRGBA64:
		return rasterOf(image.NewNRGBA64(rect))
	}
	return rasterOf(image.NewNRGBA(rect))
}

func (r raster) width() int  { return r.Bounds().Dx() }
func (r raster) height() int { return r.Bounds().Dy() }

// row returns the pixels of row y, counted from the top.
func (r raster) row(y int) []uint8 {
	return r.pix[y*r.stride:][:r.width()*r.bytes]
}

// crop copies a part, with coordinates relative to the corner of the image.
func (r raster) crop(x, y, width, height int) image.Image {
	out := r.blank(width, height)
	for row := range height {
		copy(out.row(row), r.row(y + row)[x*r.bytes:])
	}
	return out.Image
}

func (r raster) flip(columns, rows bool) image.Image {
	out := r.blank(r.width(), r.height())
	for y := range r.height() {
		from := y
		if rows {
			from = r.height() - 1 - y
		}
		if columns {
			mirror(out.row(y), r.row(from), r.bytes)
		} else {
			copy(out.row(y), r.row(from))
		}
	}
	return out.Image
}

// mirror copies a row with its pixels in reverse order.
func mirror(to, from []uint8, bytes int) {
	n := len(from)
	to = to[:n]
	switch bytes {
	case 1:
		for i, v := range from {
			to[n-1-i] = v
		}
	case 4:
		for ; len(from) >= 8; from = from[8:] { // two pixels
			pair := bits.RotateLeft64(binary.NativeEndian.Uint64(from), 32)
			binary.NativeEndian.PutUint64(to[len(to)-8:], pair)
			to = to[:len(to)-8]
		}
		copy(to, from)
	default:
		for i := 0; i < n; i += bytes {
			copy(to[n-bytes-i:][:bytes], from[i:])
		}
	}
}

// nearest scales by taking for each pixel the one under its centre.
func (r raster) nearest(width, height int) image.Image {
	out := r.blank(width, height)
	for y := range height {
		from, to := r.row((2*y+1)*r.height()/(2*height)), out.row(y)
		for x := range width {
			at := (2*x + 1) * r.width() / (2 * width)
			copy(to[x*r.bytes:][:r.bytes], from[at*r.bytes:])
		}
	}
	return out.Image
}

// pad copies into the middle of a larger image of one colour.
func (r raster) pad(left, top, right, bottom int, fill color.NRGBA) image.Image {
	r = r.with(fill)
	out := r.blank(left+r.width()+right, top+r.height()+bottom)
	out.fill(fill)
	for y := range r.height() {
		copy(out.row(top + y)[left*r.bytes:], r.row(y))
	}
	return out.Image
}

func (r raster) fill(c color.NRGBA) {
	switch img := r.Image.(type) {
	case *image.Gray, *image.Gray16: // Set would darken the grey of a translucent colour
		c.A = 255
		img.(draw.Image).Set(0, 0, c)
	case *image.NRGBA64: // Set would convert to premultiplied values
		img.SetNRGBA64(0, 0, color.NRGBA64{R: uint16(c.R) * 257, G: uint16(c.G) * 257, B: uint16(c.B) * 257, A: uint16(c.A) * 257})
	default:
		img.(draw.Image).Set(0, 0, c)
	}
	pixel := slices.Clone(r.pix[:r.bytes])
	for x := range r.width() {
		copy(r.pix[x*r.bytes:], pixel)
	}
	for y := 1; y < r.height(); y++ {
		copy(r.row(y), r.row(0))
	}
}

// with returns the image in a type that can hold a colour. A palette is extended, or
// replaced if it is full. An opaque image gets alpha if the colour has it.
func (r raster) with(c color.NRGBA) raster {
	if m, ok := r.Image.(*image.Paletted); ok {
		return withPalette(m, c)
	}
	if c.A == 255 {
		return r
	}
	switch m := r.Image.(type) {
	case *image.RGBA:
		return rasterOf(straight(m))
	case *image.CMYK:
		return rasterOf(straight(m))
	case *image.RGBA64:
		return rasterOf(straight64(m))
	}
	return r
}

func withPalette(m *image.Paletted, c color.NRGBA) raster {
	const full = 256
	for _, have := range m.Palette {
		if color.NRGBAModel.Convert(have) == c {
			return rasterOf(m)
		}
	}
	if n, _ := array.Channels(m); len(m.Palette) >= full {
		out := straight(m)
		if n == 3 && c.A == 255 {
			return rasterOf(opaque(out))
		}
		return rasterOf(out)
	}
	larger := *m
	larger.Palette = append(slices.Clip(m.Palette), c)
	return rasterOf(&larger)
}

// opaque converts an image of opaque pixels to the type for colour without alpha.
func opaque(img *image.NRGBA) *image.RGBA {
	return &image.RGBA{Pix: img.Pix, Stride: img.Stride, Rect: img.Rect}
}

// straight64 is straight for 16 bits per channel.
func straight64(img image.Image) *image.NRGBA64 {
	b := img.Bounds()
	out := image.NewNRGBA64(b)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			out.SetNRGBA64(x, y, color.NRGBA64Model.Convert(img.At(x, y)).(color.NRGBA64))
		}
	}
	return out
}
