package array

import (
	"errors"
	"fmt"
	"image"
	"image/color"
)

// FromImage returns the pixels of img, rows from top to bottom: uint8, or uint16 for
// the image types of 16 bits per channel. Colours are not premultiplied by alpha.
// channels determines the last dimension:
//
//	0  what the type of img has, as [Channels] says; with one channel there is
//	   no last dimension and the shape is (height, width)
//	1  brightness: (height, width, 1); alpha is dropped
//	2  brightness and alpha: (height, width, 2)
//	3  red, green, blue: (height, width, 3); alpha is dropped
//	4  red, green, blue, alpha: (height, width, 4)
//
// So the shape depends on the type and the size of img, never on its pixels. For an
// image.RGBA with a pixel that is not opaque, 0 is an error, because the alpha channel
// would be lost. For an image.CMYK, 0 means cyan, magenta, yellow and black.
//
// The array shares the memory of a Gray, GrayAlpha, NRGBA or CMYK image without gaps
// between its rows, if its pixels need no conversion.
func FromImage(img image.Image, channels int) (*Array, error) {
	l, err := layoutOf(img, channels)
	if err != nil {
		return nil, err
	}
	if data, ok := shared(img, l.channels, l.asIs); ok {
		return New(l.dtype, l.shape, data)
	}
	size, err := Bytes(l.dtype, l.shape)
	if err != nil {
		return nil, err
	}
	return New(l.dtype, l.shape, l.append(make([]byte, 0, size), img))
}

// ImageShape returns the type and the shape of the result of [FromImage] without
// reading the pixels.
func ImageShape(img image.Image, channels int) (DType, []int, error) {
	l, err := shapeOf(img, channels)
	return l.dtype, l.shape, err
}

// AppendImage appends the elements of the result of [FromImage].
func AppendImage(dst []byte, img image.Image, channels int) ([]byte, error) {
	l, err := layoutOf(img, channels)
	if err != nil {
		return dst, err
	}
	return l.append(dst, img), nil
}

// A pixelLayout says how the pixels of an image become an array.
type pixelLayout struct {
	dtype    DType
	shape    []int
	channels int
	asIs     bool // channels are those of the type of image
}

func (l pixelLayout) append(dst []byte, img image.Image) []byte {
	return appendPixels(dst, img, l.channels, l.dtype, l.asIs)
}

// layoutOf returns the layout. It refuses images whose pixels contradict their type.
func layoutOf(img image.Image, channels int) (pixelLayout, error) {
	l, err := shapeOf(img, channels)
	if err == nil && l.asIs && clear(img) {
		err = fmt.Errorf("a %T with pixels that are not opaque; ask for 4 channels, or make it an image.NRGBA", img)
	}
	return l, err
}

func shapeOf(img image.Image, channels int) (l pixelLayout, err error) {
	if _, endless := img.(*image.Uniform); endless {
		return l, errors.New("an image.Uniform has no size; draw it onto an image that has one")
	}
	l.shape = []int{img.Bounds().Dy(), img.Bounds().Dx()}
	l.channels, l.dtype = Channels(img)
	l.asIs = channels == 0
	switch {
	case l.asIs && l.channels == 1:
	case l.asIs:
		l.shape = append(l.shape, l.channels)
	case channels < 0 || channels > 4:
		return l, fmt.Errorf("an image has 1 to 4 channels, not %d", channels)
	default:
		l.channels, l.shape = channels, append(l.shape, channels)
	}
	return l, nil
}

// Channels returns the channels and the depth that the type of an image represents. A
// decoder chooses the type by the file, whatever the pixels are:
//
//	1  Gray, Gray16
//	2  GrayAlpha, GrayAlpha16: grey and alpha
//	3  YCbCr, RGBA, RGBA64: colour without alpha. Decoders of the standard
//	   library and of this module use the RGBA types for nothing else
//	4  NRGBA, NRGBA64 and all others: colour with alpha
//	4  CMYK
//
// An image.Paletted has 3 channels, or 4 if a colour of its palette is not opaque.
func Channels(img image.Image) (channels int, dtype DType) {
	switch img := img.(type) {
	case *image.Gray:
		return 1, Uint8
	case *image.Gray16:
		return 1, Uint16
	case *GrayAlpha:
		return 2, Uint8
	case *GrayAlpha16:
		return 2, Uint16
	case *image.YCbCr, *image.RGBA:
		return 3, Uint8
	case *image.RGBA64:
		return 3, Uint16
	case *image.NRGBA64, *image.Alpha16:
		return 4, Uint16
	case *image.Paletted:
		if opaquePalette(img.Palette) {
			return 3, Uint8
		}
	}
	return 4, Uint8
}

func opaquePalette(p color.Palette) bool {
	for _, c := range p {
		if _, _, _, a := c.RGBA(); a != 0xffff {
			return false
		}
	}
	return true
}

// clear reports whether an image of an opaque type has pixels that are not opaque.
func clear(img image.Image) bool {
	switch img := img.(type) {
	case *image.RGBA:
		return !allOpaque(img)
	case *image.RGBA64:
		return !img.Opaque()
	}
	return false
}

// shared returns the memory of an image if it needs no conversion.
func shared(img image.Image, channels int, asIs bool) ([]byte, bool) {
	var pix []byte
	var stride, has int
	switch img := img.(type) {
	case *image.Gray:
		pix, stride, has = img.Pix, img.Stride, 1
	case *GrayAlpha:
		pix, stride, has = img.Pix, img.Stride, 2
	case *image.NRGBA:
		pix, stride, has = img.Pix, img.Stride, 4
	case *image.CMYK:
		if asIs {
			pix, stride, has = img.Pix, img.Stride, 4
		}
	}
	row, size := channels*img.Bounds().Dx(), channels*img.Bounds().Dx()*img.Bounds().Dy()
	if has != channels || stride != row || len(pix) < size {
		return nil, false
	}
	return pix[:size:size], true
}

// Image returns the image with the pixels of a. The elements are uint8 or uint16, the
// shape is (height, width) or (height, width, channels) with 1 to 4 channels. The types
// are Gray, GrayAlpha, RGBA (3 channels, opaque) and NRGBA (4 channels), and those of
// 16 bits. Gray, GrayAlpha and NRGBA images share the memory of a.
func (a Array) Image() (image.Image, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	if !a.IsImage() {
		return nil, fmt.Errorf("%v is not an image; it takes uint8 or uint16 of shape (height, width) or (height, width, 1, 2, 3 or 4)", a)
	}
	channels := 1
	if len(a.Shape) == 3 {
		channels = a.Shape[2]
	}
	rect := image.Rect(0, 0, a.Shape[1], a.Shape[0])
	if a.DType == Uint16 {
		return a.image16(rect, channels), nil
	}
	switch channels {
	case 1:
		return &image.Gray{Pix: a.Data, Stride: rect.Dx(), Rect: rect}, nil
	case 2:
		return &GrayAlpha{Pix: a.Data, Stride: 2 * rect.Dx(), Rect: rect}, nil
	case 4:
		return &image.NRGBA{Pix: a.Data, Stride: 4 * rect.Dx(), Rect: rect}, nil
	}
	pix := make([]byte, 0, len(a.Data)/3*4)
	for i := 0; i < len(a.Data); i += 3 {
		pix = append(pix, a.Data[i], a.Data[i+1], a.Data[i+2], 255)
	}
	return &image.RGBA{Pix: pix, Stride: 4 * rect.Dx(), Rect: rect}, nil
}

// IsImage reports whether [Array.Image] accepts the type and the shape of a.
func (a Array) IsImage() bool {
	if a.DType != Uint8 && a.DType != Uint16 {
		return false
	}
	return len(a.Shape) == 2 || len(a.Shape) == 3 && a.Shape[2] >= 1 && a.Shape[2] <= 4
}

// image16 swaps the bytes, because the image types are big-endian.
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
	case 2:
		return &GrayAlpha16{Pix: pix, Stride: 4 * rect.Dx(), Rect: rect}
	case 3:
		return &image.RGBA64{Pix: pix, Stride: 8 * rect.Dx(), Rect: rect}
	}
	return &image.NRGBA64{Pix: pix, Stride: 8 * rect.Dx(), Rect: rect}
}
