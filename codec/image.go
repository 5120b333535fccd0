package codec

import (
	"bytes"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"sync/atomic"

	"golang.org/x/image/webp"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/internal/text/display"
)

// MaxPixels bounds the images that are read and written, so that a small file cannot claim
// all memory; 0, the default, means 1<<28. A larger image is an error; the pages of one
// file count together.
var MaxPixels atomic.Int64

const defaultMaxPixels = 1 << 28

// imageCodecs returns the codecs of images. Each reads an image.Image whose type shows the
// channels of the file, as array.Channels lists. It reads an *array.Array if no image type
// fits: (pages, height, width, channels) of several pages or frames, or numbers other than
// uint8 and uint16. It writes an image or such an array, and reads back the same channels.
// A palette stays one, or becomes grey if the format has no other grey. Metadata is ignored;
// [Orientation] reads the orientation.
//
// JPEG takes grey, colour and CMYK and drops alpha; GIF takes a palette. Lossless refers to
// pixels and channels; the type of image may change.
//
// Functions are named where they are called, so that the identity of each codec covers only
// what it calls.
func imageCodecs() []Codec {
	return []Codec{
		{
			Name: "jpeg", Extensions: []string{"jpeg", "jpg", "jfif", "jpe"},
			Decode: func(b []byte) (any, error) { return readImage("jpeg", b, decodeJPEG) },
			Check:  checkHeader("jpeg", jpeg.DecodeConfig),
			Claims: claimsJPEG, header: headerJPEG, raster: rasterJPEG, Reduce: reduceJPEG,
			Encode: func(v any) ([]byte, error) { return writeImage("jpeg", v, encodeJPEG) },
		},
		{
			Name: "png", Extensions: []string{"png"}, Lossless: true,
			Decode: func(b []byte) (any, error) { return readImage("png", b, decodePNG) },
			Check:  checkHeader("png", png.DecodeConfig),
			Claims: claimsPNG,
			Encode: func(v any) ([]byte, error) { return writeImage("png", v, encodePNG) },
		},
		{
			Name: "gif", Extensions: []string{"gif"},
			Decode: func(b []byte) (any, error) { return readImage("gif", b, decodeGIF) },
			Check:  checkHeader("gif", gif.DecodeConfig),
			Claims: claims(gif.DecodeConfig),
			Encode: func(v any) ([]byte, error) { return writeImage("gif", v, encodeGIF) },
		},
		{
			Name: "bmp", Extensions: []string{"bmp"},
			Decode: func(b []byte) (any, error) { return readImage("bmp", b, decodeBMP) },
			Check: checkStart("bmp", func(b []byte) error {
				_, err := parseBMP(b)
				return err
			}),
			Encode: func(v any) ([]byte, error) { return writeImage("bmp", v, encodeBMP) },
		},
		{
			Name: "tiff", Extensions: []string{"tiff", "tif"}, Lossless: true,
			Decode: func(b []byte) (any, error) { return readImage("tiff", b, decodeTIFF) },
			Check: checkStart("tiff", func(b []byte) error {
				_, err := parseTIFF(b)
				return err
			}),
			Encode: func(v any) ([]byte, error) { return writeBytes("tiff", v, encodeTIFF) },
		},
		{
			Name: "webp", Extensions: []string{"webp"},
			Decode: func(b []byte) (any, error) { return readImage("webp", b, decodeWebP) },
			Check:  checkHeader("webp", webp.DecodeConfig),
			Claims: claims(webp.DecodeConfig), header: headerWebP,
		},
	}
}

func readImage(name string, b []byte, decode func([]byte) (any, error)) (any, error) {
	v, err := guarded(func() (any, error) { return decode(b) })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, inPlain(name, err))
	}
	return v, nil
}

// writeImage writes a value that must be one image.Image.
func writeImage(name string, v any, encode func(io.Writer, image.Image) error) ([]byte, error) {
	return writeBytes(name, v, func(w io.Writer, v any) error {
		img, err := imageOf(v)
		if err != nil {
			return err
		}
		if err := checkSize(img.Bounds().Dx(), img.Bounds().Dy()); err != nil {
			return err
		}
		return encode(w, img)
	})
}

func writeBytes(name string, v any, encode func(io.Writer, any) error) ([]byte, error) {
	var buf bytes.Buffer
	_, err := guarded(func() (any, error) { return nil, encode(&buf, v) })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return buf.Bytes(), nil
}

func imageOf(v any) (image.Image, error) {
	switch v := v.(type) {
	case image.Image:
		return v, nil
	case *array.Array:
		if v != nil {
			return v.Image()
		}
	case array.Array:
		return v.Image()
	}
	return nil, fmt.Errorf("%s cannot be written; give an image or an array of pixels", display.Value(v))
}

// checked returns the header of an image. It returns an error if the image has more pixels
// than allowed, or than b can hold at perByte pixels per byte (0 for any number).
func checked(b []byte, perByte int64, config func(io.Reader) (image.Config, error)) (image.Config, error) {
	c, err := config(bytes.NewReader(b))
	if err != nil {
		return c, err
	}
	if err := checkSize(c.Width, c.Height); err != nil {
		return c, err
	}
	return c, checkClaim(int64(c.Width), int64(c.Height), perByte, len(b))
}

func checkClaim(width, height, perByte int64, size int) error {
	if perByte > 0 && width*height > perByte*int64(size) {
		return fmt.Errorf("a file of %d bytes cannot hold the %d x %d pixels of its header", size, width, height)
	}
	return nil
}

func pixelLimit() int64 {
	if limit := MaxPixels.Load(); limit > 0 {
		return limit
	}
	return defaultMaxPixels
}

// morePixels tells how to allow more pixels.
const morePixels settingError = "raise --max-pixels, limits: {pixels: N} in the flow file, or codec.MaxPixels in Go"

func checkSize(width, height int) error {
	limit := pixelLimit()
	if width <= 0 || height <= 0 {
		return fmt.Errorf("an image of %d x %d pixels", width, height)
	}
	if int64(width) > limit/int64(height) {
		return fmt.Errorf("an image of %d x %d pixels exceeds the limit of %d; %w", width, height, limit, morePixels)
	}
	return nil
}

// asRGBA converts an opaque image to the type of colour without alpha.
func asRGBA(img *image.NRGBA) *image.RGBA {
	return &image.RGBA{Pix: img.Pix, Stride: img.Stride, Rect: img.Rect}
}
