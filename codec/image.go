package codec

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"sync"
	"sync/atomic"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"

	"github.com/larder-data/larder/array"
)

// MaxPixels bounds the images that are read and written, so that a small file
// cannot claim all memory; 0, the default, means 1<<28. A larger image is an
// error.
var MaxPixels atomic.Int64

const defaultMaxPixels = 1 << 28

// An imageFormat reads a format to an image.Image, and writes one or an
// *array.Array that is one. Metadata of a file, such as its orientation, is
// not read.
type imageFormat struct {
	name       string
	extensions []string
	lossless   bool // pixels; the type of image may be another one
	// perByte is more pixels than one byte of a file can stand for, or 0 if
	// a byte can stand for any number.
	perByte int64
	config  func(io.Reader) (image.Config, error)
	decode  func(io.Reader) (image.Image, error)
	encode  func(io.Writer, image.Image) error
}

// jpegQuality is what JPEGs are written with.
const jpegQuality = 80

// imageFormats are the formats of images. Of GIF only the first frame is read.
// BMP and JPEG drop alpha. Deflate, which PNG uses, stands for up to 1032 bytes
// a byte.
var imageFormats = []imageFormat{
	{"jpeg", []string{"jpeg", "jpg", "jfif", "jpe"}, false, 8192, jpeg.DecodeConfig, jpeg.Decode, encodeJPEG},
	{"png", []string{"png"}, true, 8 * 1040, png.DecodeConfig, png.Decode, encodePNG},
	{"gif", []string{"gif"}, false, 4096, gif.DecodeConfig, gif.Decode, encodeGIF},
	{"bmp", []string{"bmp"}, false, 8, bmp.DecodeConfig, bmp.Decode, bmp.Encode},
	{"tiff", []string{"tiff", "tif"}, true, 0, tiff.DecodeConfig, tiff.Decode, encodeTIFF},
	{"webp", []string{"webp"}, false, 0, webp.DecodeConfig, webp.Decode, nil},
}

// encodeJPEG brings types that image/jpeg would ask for each pixel to one that
// it reads in rows.
func encodeJPEG(w io.Writer, img image.Image) error {
	switch img.(type) {
	case *image.Gray, *image.YCbCr, *image.RGBA:
	default:
		rgba := image.NewRGBA(img.Bounds())
		draw.Draw(rgba, rgba.Rect, img, rgba.Rect.Min, draw.Src)
		img = rgba
	}
	return jpeg.Encode(w, img, &jpeg.Options{Quality: jpegQuality})
}

// pngEncoder uses its buffers again: they take more than most images.
var pngEncoder = png.Encoder{BufferPool: &pngBuffers{}}

type pngBuffers struct{ pool sync.Pool }

func (p *pngBuffers) Get() *png.EncoderBuffer {
	b, _ := p.pool.Get().(*png.EncoderBuffer)
	return b
}

func (p *pngBuffers) Put(b *png.EncoderBuffer) { p.pool.Put(b) }

func encodePNG(w io.Writer, img image.Image) error { return pngEncoder.Encode(w, img) }

func encodeGIF(w io.Writer, img image.Image) error { return gif.Encode(w, img, nil) }

func encodeTIFF(w io.Writer, img image.Image) error {
	return tiff.Encode(w, img, &tiff.Options{Compression: tiff.Deflate, Predictor: true})
}

// imageCodecs returns the codecs of all formats.
func imageCodecs() []Codec {
	codecs := make([]Codec, len(imageFormats))
	for i, f := range imageFormats {
		codecs[i] = Codec{Name: f.name, Version: 1, Extensions: f.extensions, Lossless: f.lossless, Decode: f.read}
		if f.encode != nil {
			codecs[i].Encode = f.write
		}
	}
	return codecs
}

func (f imageFormat) read(b []byte) (any, error) {
	img, err := guarded(func() (image.Image, error) {
		if err := f.check(b); err != nil {
			return nil, err
		}
		return f.decode(bytes.NewReader(b))
	})
	if err != nil {
		return nil, fmt.Errorf("codec: %s: %w", f.name, err)
	}
	return img, nil
}

// check refuses images of more pixels than allowed, or than b can hold.
func (f imageFormat) check(b []byte) error {
	c, err := f.config(bytes.NewReader(b))
	if err != nil {
		return err
	}
	if err := checkSize(c.Width, c.Height); err != nil {
		return err
	}
	if f.perByte > 0 && int64(c.Width)*int64(c.Height) > f.perByte*int64(len(b)) {
		return fmt.Errorf("%d x %d pixels are claimed by a file of %d bytes", c.Width, c.Height, len(b))
	}
	return nil
}

func checkSize(width, height int) error {
	limit := MaxPixels.Load()
	if limit <= 0 {
		limit = defaultMaxPixels
	}
	if width <= 0 || height <= 0 {
		return fmt.Errorf("an image of %d x %d pixels", width, height)
	}
	if int64(width) > limit/int64(height) {
		return fmt.Errorf("an image of %d x %d pixels; more than %d need codec.MaxPixels to allow it", width, height, limit)
	}
	return nil
}

func (f imageFormat) write(v any) ([]byte, error) {
	img, err := imageOf(f.name, v)
	if err != nil {
		return nil, err
	}
	if err := checkSize(img.Bounds().Dx(), img.Bounds().Dy()); err != nil {
		return nil, fmt.Errorf("codec: %s: %w", f.name, err)
	}
	var buf bytes.Buffer
	if err := f.encode(&buf, img); err != nil {
		return nil, fmt.Errorf("codec: %s: %w", f.name, err)
	}
	return buf.Bytes(), nil
}

func imageOf(name string, v any) (image.Image, error) {
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
	return nil, unsupported(name, v, "an image.Image, or an *array.Array of pixels")
}
