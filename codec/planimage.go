package codec

import (
	"image"
	"reflect"

	"github.com/larder-data/larder/array"
)

// bytesPerPixel lists the image types with all pixels in one slice.
var bytesPerPixel = map[reflect.Type]int{
	reflect.TypeFor[array.GrayAlpha]():   2,
	reflect.TypeFor[array.GrayAlpha16](): 4,
	reflect.TypeFor[image.Alpha]():       1,
	reflect.TypeFor[image.Alpha16]():     2,
	reflect.TypeFor[image.CMYK]():        4,
	reflect.TypeFor[image.Gray]():        1,
	reflect.TypeFor[image.Gray16]():      2,
	reflect.TypeFor[image.NRGBA]():       4,
	reflect.TypeFor[image.NRGBA64]():     8,
	reflect.TypeFor[image.Paletted]():    1,
	reflect.TypeFor[image.RGBA]():        4,
	reflect.TypeFor[image.RGBA64]():      8,
}

// planImage changes the plan of an image type so that a part of a larger image takes only
// its own bytes.
func planImage(p *plan) {
	write, pixel := p.write, bytesPerPixel[p.typ]
	p.write = func(w *cborWriter, v reflect.Value) error {
		pix, stride := v.FieldByName("Pix"), v.FieldByName("Stride")
		tight, row, ok := crop(pix.Bytes(), int(stride.Int()), v.FieldByName("Rect").Interface().(image.Rectangle), pixel)
		if !ok {
			return write(w, v)
		}
		w.alive = append(w.alive, tight)
		part := reflect.New(p.typ).Elem()
		part.Set(v)
		part.FieldByName("Pix").SetBytes(tight)
		part.FieldByName("Stride").SetInt(int64(row))
		return write(w, part)
	}
}

// crop returns the pixels within bounds without gaps, and their stride. It returns false if
// there is nothing to omit, or if pix does not fit bounds and stride.
func crop(pix []byte, stride int, bounds image.Rectangle, pixel int) (tight []byte, row int, ok bool) {
	width, height := bounds.Dx(), bounds.Dy()
	if width <= 0 || height <= 0 || width > len(pix)/pixel || height > len(pix) {
		return nil, 0, false
	}
	row = width * pixel
	if stride < row || stride > len(pix) || (height-1)*stride+row > len(pix) || height*row == len(pix) {
		return nil, 0, false
	}
	tight = make([]byte, 0, height*row)
	for y := range height {
		tight = append(tight, pix[y*stride:][:row]...)
	}
	return tight, row, true
}
