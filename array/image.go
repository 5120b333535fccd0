package array

import (
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
)

// FromImage returns the pixels of img, rows from top to bottom: uint8, or
// uint16 for the image types of 16 bits a channel (Gray16, RGBA64, NRGBA64,
// Alpha16). Colours are not premultiplied by alpha. Channels says what the
// last dimension is:
//
//	0  what the type of img has: none for Gray and Gray16, whose shape is
//	   (height, width); 3 for YCbCr and CMYK; 4 for all others
//	1  brightness: (height, width, 1)
//	3  red, green, blue: (height, width, 3); alpha is dropped
//	4  red, green, blue, alpha: (height, width, 4)
//
// So the shape depends on the type and the size of img, never on its pixels.
// The array shares the memory of a Gray or NRGBA image whose rows lie without
// gaps, where its pixels are wanted as they are.
func FromImage(img image.Image, channels int) (*Array, error) {
	if _, endless := img.(*image.Uniform); endless {
		return nil, errors.New("array: an image.Uniform has no size; draw it onto an image that has one")
	}
	shape := []int{img.Bounds().Dy(), img.Bounds().Dx()}
	n, dtype := natural(img)
	switch channels {
	case 0:
		if n > 1 {
			shape = append(shape, n)
		}
	case 1, 3, 4:
		n, shape = channels, append(shape, channels)
	default:
		return nil, fmt.Errorf("array: an image has 1, 3 or 4 channels, not %d", channels)
	}
	if data, ok := shared(img, n); ok {
		return New(dtype, shape, data)
	}
	size, err := Bytes(dtype, shape)
	if err != nil {
		return nil, err
	}
	return New(dtype, shape, appendPixels(make([]byte, 0, size), img, n, dtype))
}

// natural returns the channels and the depth of an image's type.
func natural(img image.Image) (channels int, dtype DType) {
	switch img.(type) {
	case *image.Gray:
		return 1, Uint8
	case *image.Gray16:
		return 1, Uint16
	case *image.YCbCr, *image.CMYK:
		return 3, Uint8
	case *image.RGBA64, *image.NRGBA64, *image.Alpha16:
		return 4, Uint16
	}
	return 4, Uint8
}

// shared returns the pixels of an image if they already lie as wanted.
func shared(img image.Image, channels int) ([]byte, bool) {
	var pix []byte
	var stride int
	switch img := img.(type) {
	case *image.Gray:
		if channels != 1 {
			return nil, false
		}
		pix, stride = img.Pix, img.Stride
	case *image.NRGBA:
		if channels != 4 {
			return nil, false
		}
		pix, stride = img.Pix, img.Stride
	default:
		return nil, false
	}
	row, size := channels*img.Bounds().Dx(), channels*img.Bounds().Dx()*img.Bounds().Dy()
	if stride != row || len(pix) < size {
		return nil, false
	}
	return pix[:size:size], true
}

func appendPixels(dst []byte, img image.Image, channels int, dtype DType) []byte {
	b := img.Bounds()
	if channels > 1 {
		if rgba := opaque(img); rgba != nil {
			return appendOpaque(dst, rgba, channels)
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

// opaque returns the pixels of an image of the types that decoders make most,
// if all are opaque, so that they need not be asked for one by one.
func opaque(img image.Image) *image.RGBA {
	switch img := img.(type) {
	case *image.RGBA:
		if img.Opaque() {
			return img
		}
	case *image.YCbCr:
		rgba := image.NewRGBA(img.Rect)
		draw.Draw(rgba, rgba.Rect, img, rgba.Rect.Min, draw.Src)
		return rgba
	}
	return nil
}

func appendOpaque(dst []byte, img *image.RGBA, channels int) []byte {
	width := 4 * img.Rect.Dx()
	for y := range img.Rect.Dy() {
		row := img.Pix[y*img.Stride:][:width]
		if channels == 4 {
			dst = append(dst, row...)
			continue
		}
		for x := 0; x < len(row); x += 4 {
			dst = append(dst, row[x], row[x+1], row[x+2])
		}
	}
	return dst
}

func appendPixel(dst []byte, img image.Image, x, y, channels int) []byte {
	if channels == 1 {
		return append(dst, color.GrayModel.Convert(img.At(x, y)).(color.Gray).Y)
	}
	c := pixel(img, x, y)
	if channels == 3 {
		return append(dst, c.R, c.G, c.B)
	}
	return append(dst, c.R, c.G, c.B, c.A)
}

// pixel avoids an allocation for the types that decoders make.
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
	if channels == 1 {
		return le.AppendUint16(dst, color.Gray16Model.Convert(c).(color.Gray16).Y)
	}
	n := color.NRGBA64Model.Convert(c).(color.NRGBA64)
	dst = le.AppendUint16(le.AppendUint16(le.AppendUint16(dst, n.R), n.G), n.B)
	if channels == 4 {
		dst = le.AppendUint16(dst, n.A)
	}
	return dst
}

// Image returns the image whose pixels a holds: uint8 or uint16, of shape
// (height, width) or (height, width, channels) with 1, 3 or 4 channels. The
// types are Gray, RGBA (3 channels, opaque) and NRGBA (4 channels), and Gray16,
// RGBA64 and NRGBA64. Gray and NRGBA images share the memory of a.
func (a Array) Image() (image.Image, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	rank, channels := len(a.Shape), 1
	if rank == 3 {
		channels = a.Shape[2]
	}
	if a.DType != Uint8 && a.DType != Uint16 || rank != 2 && rank != 3 || channels != 1 && channels != 3 && channels != 4 {
		return nil, fmt.Errorf("array: %v is not an image; it takes uint8 or uint16 of shape (height, width) or (height, width, 1, 3 or 4)", a)
	}
	rect := image.Rect(0, 0, a.Shape[1], a.Shape[0])
	if a.DType == Uint16 {
		return a.image16(rect, channels), nil
	}
	switch channels {
	case 1:
		return &image.Gray{Pix: a.Data, Stride: rect.Dx(), Rect: rect}, nil
	case 4:
		return &image.NRGBA{Pix: a.Data, Stride: 4 * rect.Dx(), Rect: rect}, nil
	}
	pix := make([]byte, 0, len(a.Data)/3*4)
	for i := 0; i < len(a.Data); i += 3 {
		pix = append(pix, a.Data[i], a.Data[i+1], a.Data[i+2], 255)
	}
	return &image.RGBA{Pix: pix, Stride: 4 * rect.Dx(), Rect: rect}, nil
}

// image16 turns the numbers round: the image types are big-endian.
func (a Array) image16(rect image.Rectangle, channels int) image.Image {
	pix := make([]byte, 0, len(a.Data)/(2*channels)*8)
	for i := 0; i < len(a.Data); i += 2 {
		pix = append(pix, a.Data[i+1], a.Data[i])
		if channels == 3 && i%6 == 4 {
			pix = append(pix, 255, 255)
		}
	}
	switch channels {
	case 1:
		return &image.Gray16{Pix: pix, Stride: 2 * rect.Dx(), Rect: rect}
	case 3:
		return &image.RGBA64{Pix: pix, Stride: 8 * rect.Dx(), Rect: rect}
	}
	return &image.NRGBA64{Pix: pix, Stride: 8 * rect.Dx(), Rect: rect}
}
