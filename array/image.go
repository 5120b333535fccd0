package array

import (
	"errors"
	"fmt"
	"image"
	"image/color"
)

// FromImage returns the pixels of img, rows from top to bottom: uint8, or
// uint16 for the image types of 16 bits a channel. Colours are not
// premultiplied by alpha. Channels says what the last dimension is:
//
//	0  what the type of img has, as [Channels] says; of one channel there is
//	   no last dimension and the shape is (height, width)
//	1  brightness: (height, width, 1); alpha is dropped
//	2  brightness and alpha: (height, width, 2)
//	3  red, green, blue: (height, width, 3); alpha is dropped
//	4  red, green, blue, alpha: (height, width, 4)
//
// So the shape depends on the type and the size of img, never on its pixels.
// An image.RGBA with a pixel that is not opaque has no 0: that is an error
// rather than a channel that is lost. Of an image.CMYK, 0 is cyan, magenta,
// yellow and black.
//
// The array shares the memory of a Gray, GrayAlpha, NRGBA or CMYK image whose
// rows lie without gaps, where its pixels are wanted as they are.
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

// ImageShape returns the type and the shape of what [FromImage] makes, without a look
// at the pixels.
func ImageShape(img image.Image, channels int) (DType, []int, error) {
	l, err := shapeOf(img, channels)
	return l.dtype, l.shape, err
}

// AppendImage appends the elements of what [FromImage] makes.
func AppendImage(dst []byte, img image.Image, channels int) ([]byte, error) {
	l, err := layoutOf(img, channels)
	if err != nil {
		return dst, err
	}
	return l.append(dst, img), nil
}

// A pixelLayout is how the pixels of an image become an array.
type pixelLayout struct {
	dtype    DType
	shape    []int
	channels int
	asIs     bool // they are those of the type of image
}

func (l pixelLayout) append(dst []byte, img image.Image) []byte {
	return appendPixels(dst, img, l.channels, l.dtype, l.asIs)
}

// layoutOf refuses images with pixels that do not become what their type says.
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

// Channels returns the channels that the type of an image stands for, and
// their depth. It is what a decoder found in a file, whatever the pixels are:
//
//	1  Gray, Gray16
//	2  GrayAlpha, GrayAlpha16: grey and alpha
//	3  YCbCr, RGBA, RGBA64: colour without alpha. Decoders of the standard
//	   library and of this module use the RGBA types for nothing else
//	4  NRGBA, NRGBA64 and all others: colour with alpha
//	4  CMYK
//
// An image.Paletted has 3 channels, or 4 if a colour of its palette is not
// opaque.
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

// clear reports whether an image of a type that stands for opaque colour has
// pixels that are not opaque.
func clear(img image.Image) bool {
	switch img := img.(type) {
	case *image.RGBA:
		return !allOpaque(img)
	case *image.RGBA64:
		return !img.Opaque()
	}
	return false
}

// shared returns the pixels of an image if they already lie as wanted.
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

// Image returns the image whose pixels a holds: uint8 or uint16, of shape
// (height, width) or (height, width, channels) with 1 to 4 channels. The types
// are Gray, GrayAlpha, RGBA (3 channels, opaque) and NRGBA (4 channels), and
// those of 16 bits. Gray, GrayAlpha and NRGBA images share the memory of a.
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

// IsImage reports whether the type and the shape of a are those of an image
// that [Array.Image] makes.
func (a Array) IsImage() bool {
	if a.DType != Uint8 && a.DType != Uint16 {
		return false
	}
	return len(a.Shape) == 2 || len(a.Shape) == 3 && a.Shape[2] >= 1 && a.Shape[2] <= 4
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
	case 2:
		return &GrayAlpha16{Pix: pix, Stride: 4 * rect.Dx(), Rect: rect}
	case 3:
		return &image.RGBA64{Pix: pix, Stride: 8 * rect.Dx(), Rect: rect}
	}
	return &image.NRGBA64{Pix: pix, Stride: 8 * rect.Dx(), Rect: rect}
}
