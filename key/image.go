package key

import (
	"fmt"
	"image"
	"math"
	"reflect"
	"unsafe"
)

func encodeRGBA(e *encoder, p unsafe.Pointer) error {
	m := (*image.RGBA)(p)
	return e.pixels(m.Pix, m.Stride, m.Rect, 4)
}

func encodeRGBA64(e *encoder, p unsafe.Pointer) error {
	m := (*image.RGBA64)(p)
	return e.pixels(m.Pix, m.Stride, m.Rect, 8)
}

func encodeNRGBA(e *encoder, p unsafe.Pointer) error {
	m := (*image.NRGBA)(p)
	return e.pixels(m.Pix, m.Stride, m.Rect, 4)
}

func encodeNRGBA64(e *encoder, p unsafe.Pointer) error {
	m := (*image.NRGBA64)(p)
	return e.pixels(m.Pix, m.Stride, m.Rect, 8)
}

func encodeAlpha(e *encoder, p unsafe.Pointer) error {
	m := (*image.Alpha)(p)
	return e.pixels(m.Pix, m.Stride, m.Rect, 1)
}

func encodeAlpha16(e *encoder, p unsafe.Pointer) error {
	m := (*image.Alpha16)(p)
	return e.pixels(m.Pix, m.Stride, m.Rect, 2)
}

func encodeGray(e *encoder, p unsafe.Pointer) error {
	m := (*image.Gray)(p)
	return e.pixels(m.Pix, m.Stride, m.Rect, 1)
}

func encodeGray16(e *encoder, p unsafe.Pointer) error {
	m := (*image.Gray16)(p)
	return e.pixels(m.Pix, m.Stride, m.Rect, 2)
}

func encodeCMYK(e *encoder, p unsafe.Pointer) error {
	m := (*image.CMYK)(p)
	return e.pixels(m.Pix, m.Stride, m.Rect, 4)
}

func encodePaletted(e *encoder, p unsafe.Pointer) error {
	m := (*image.Paletted)(p)
	if m.Palette == nil {
		e.length(0)
	} else {
		e.length(len(m.Palette) + 1)
	}
	for i, c := range m.Palette {
		if err := e.value(c); err != nil {
			return within(err, fmt.Sprintf(".Palette[%d].(%s)", i, typeName(reflect.TypeOf(c))))
		}
	}
	return e.pixels(m.Pix, m.Stride, m.Rect, 1)
}

func encodeYCbCr(e *encoder, p unsafe.Pointer) error { return e.yCbCr((*image.YCbCr)(p)) }

func encodeNYCbCrA(e *encoder, p unsafe.Pointer) error {
	m := (*image.NYCbCrA)(p)
	if err := e.yCbCr(&m.YCbCr); err != nil {
		return err
	}
	return e.pixels(m.A, m.AStride, m.Rect, 1)
}

func (e *encoder) yCbCr(m *image.YCbCr) error {
	e.uint64(uint64(m.SubsampleRatio))
	if err := e.pixels(m.Y, m.YStride, m.Rect, 1); err != nil {
		return err
	}
	chroma := chromaRect(m)
	if err := e.pixels(m.Cb, m.CStride, chroma, 1); err != nil {
		return err
	}
	return e.pixels(m.Cr, m.CStride, chroma, 1)
}

// chromaRect returns the part of the color planes that belongs to the image, rounded as
// [image.YCbCr.COffset] rounds.
func chromaRect(m *image.YCbCr) image.Rectangle {
	r := m.Rect
	if r.Empty() {
		return r
	}
	h, v := 1, 1
	switch m.SubsampleRatio {
	case image.YCbCrSubsampleRatio422:
		h = 2
	case image.YCbCrSubsampleRatio420:
		h, v = 2, 2
	case image.YCbCrSubsampleRatio440:
		v = 2
	case image.YCbCrSubsampleRatio411:
		h = 4
	case image.YCbCrSubsampleRatio410:
		h, v = 4, 2
	}
	return image.Rect(r.Min.X/h, r.Min.Y/v, (r.Max.X-1)/h+1, (r.Max.Y-1)/v+1)
}

// pixels encodes bounds and the rows within them, with n bytes per pixel.
func (e *encoder) pixels(pix []byte, stride int, r image.Rectangle, n int) error {
	if r.Empty() {
		e.rectangle(r)
		return nil
	}
	width, height := r.Dx()*n, r.Dy()
	// Division cannot overflow; bounds may be arbitrarily large.
	if r.Dx() <= 0 || height <= 0 || r.Dx() > len(pix)/n || stride < width || (len(pix)-width)/stride < height-1 {
		return &UnkeyableError{
			Type:   reflect.TypeFor[image.Image](),
			Reason: fmt.Sprintf("image with bounds %v, stride %d and %d bytes of pixels is not valid", r, stride, len(pix)),
		}
	}
	at := referent{uintptr(unsafe.Pointer(unsafe.SliceData(pix))), len(pix), typeID(reflect.TypeFor[byte]())}
	if number, before := e.meet(at, partly); before != never {
		e.rectangle(boundsAgain)
		e.length(number)
	}
	e.rectangle(r)
	if stride == width {
		e.raw(pix[:width*height])
		return nil
	}
	for y := range height {
		e.raw(pix[y*stride:][:width])
	}
	return nil
}

// boundsAgain precede the number of a referent, and the bounds of an image whose pixels
// are there. No image has this many pixels.
var boundsAgain = image.Rect(0, 0, math.MaxInt, math.MaxInt)

func (e *encoder) rectangle(r image.Rectangle) {
	for _, n := range [...]int{r.Min.X, r.Min.Y, r.Max.X, r.Max.Y} {
		e.uint64(uint64(n))
	}
}

// maxPixels bounds images that are read pixel by pixel: some have unlimited bounds.
const maxPixels = 1 << 28

func encodePixels(t reflect.Type) func(*encoder, unsafe.Pointer) error {
	return func(e *encoder, p unsafe.Pointer) error {
		e.uses(t, "Bounds", "At")
		m := reflect.NewAt(t, p).Interface().(image.Image)
		r := m.Bounds()
		e.rectangle(r)
		if r.Empty() {
			return nil
		}
		if w, h := r.Dx(), r.Dy(); w <= 0 || h <= 0 || w > maxPixels/h {
			return &UnkeyableError{Type: t, Reason: fmt.Sprintf("image with bounds %v is too large to be read pixel by pixel", r), Fix: fixKeyer}
		}
		outer := e.apart
		e.apart = true // a color may be allocated for the call where another was
		defer func() { e.apart = outer }()
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				c := m.At(x, y)
				if err := e.value(c); err != nil {
					return within(err, fmt.Sprintf(".At(%d, %d).(%s)", x, y, typeName(reflect.TypeOf(c))))
				}
			}
			e.spill()
		}
		return nil
	}
}
