package codec

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"io"
	"math"
	"sync/atomic"

	"golang.org/x/image/webp"

	"github.com/larder-data/larder/array"
)

// MaxPixels bounds the images that are read and written, so that a small file
// cannot claim all memory; 0, the default, means 1<<28. A larger image is an
// error; the pages of one file count together.
var MaxPixels atomic.Int64

const defaultMaxPixels = 1 << 28

// An imageFormat reads a format to an image.Image whose type says what the file
// has, as array.Channels lists, or to an *array.Array where no type of image
// can: of several pages or frames (pages, height, width, channels), or of other
// numbers than uint8 and uint16. It writes an image or such an array, and reads
// back the channels it was given. A palette is read as one, or as grey if the
// format has no other way to say grey. Metadata of a file, such as its
// orientation, is not read.
type imageFormat struct {
	name       string
	version    int
	extensions []string
	lossless   bool // pixels and channels; the type of image may be another one
	decode     func(b []byte) (any, error)
	encode     func(io.Writer, any) error
	header     func(b []byte) (image.Config, error) // of an image that may be read; nil where no library reads the format
}

// imageFormats are the formats of images. JPEG takes grey, colour and CMYK and
// drops alpha, GIF takes a palette.
var imageFormats = []imageFormat{
	{"jpeg", 3, []string{"jpeg", "jpg", "jfif", "jpe"}, false, decodeJPEG, plainImage("jpeg", encodeJPEG), headerJPEG},
	{"png", 3, []string{"png"}, true, decodePNG, plainImage("png", encodePNG), nil},
	{"gif", 2, []string{"gif"}, false, decodeGIF, plainImage("gif", encodeGIF), nil},
	{"bmp", 2, []string{"bmp"}, false, decodeBMP, plainImage("bmp", encodeBMP), nil},
	{"tiff", 3, []string{"tiff", "tif"}, true, decodeTIFF, encodeTIFF, nil},
	{"webp", 2, []string{"webp"}, false, decodeWebP, nil, headerWebP},
}

// imageCodecs returns the codecs of all formats.
func imageCodecs() []Codec {
	codecs := make([]Codec, len(imageFormats))
	for i, f := range imageFormats {
		codecs[i] = Codec{Name: f.name, Version: f.version, Extensions: f.extensions, Lossless: f.lossless, Decode: f.read}
		if f.encode != nil {
			codecs[i].Encode = f.write
		}
		switch f.name {
		case "png":
			codecs[i].Claims = claimedPNG
		case "jpeg":
			codecs[i].Claims = claimedJPEG
		}
		if config := configs[f.name]; config != nil {
			codecs[i].Claims = func(b []byte) int64 { return claimed(b, config) }
		}
	}
	return codecs
}

// configs read the headers of formats whose files may be much smaller than their
// images.
var configs = map[string]func(io.Reader) (image.Config, error){
	"gif": gif.DecodeConfig, "webp": webp.DecodeConfig,
}

// claimed returns how many bytes an image takes while it is decoded; 0 for one
// that is none.
func claimed(b []byte, config func(io.Reader) (image.Config, error)) int64 {
	c, err := guarded(func() (image.Config, error) { return config(bytes.NewReader(b)) })
	if err != nil || checkSize(c.Width, c.Height) != nil {
		return 0
	}
	pixel := int64(4)
	switch c.ColorModel {
	case color.GrayModel:
		pixel = 1
	case color.YCbCrModel, color.NYCbCrAModel:
		pixel = 8 // with what the colours are made of
	case color.RGBA64Model, color.NRGBA64Model:
		pixel = 8
	}
	return pixel * int64(c.Width) * int64(c.Height)
}

// claimedPNG is claimed for PNG, whose header tells in the same place always: to read
// it as an image takes more memory than a small image.
func claimedPNG(b []byte) int64 {
	const widthAt, heightAt, depthAt, end = 16, 20, 24, 26
	if len(b) < end {
		return 0
	}
	width, height := int64(binary.BigEndian.Uint32(b[widthAt:])), int64(binary.BigEndian.Uint32(b[heightAt:]))
	if width > math.MaxInt32 || height > math.MaxInt32 || checkSize(int(width), int(height)) != nil {
		return 0
	}
	switch depth, gray := b[depthAt], b[depthAt+1] == 0; {
	case depth == 16 && !gray:
		return 8 * width * height
	case depth <= 8 && gray:
		return width * height
	}
	return 4 * width * height
}

// claimedJPEG is claimed for JPEG, as claimedPNG is: the size stands in the first
// frame, after segments of which each says how long it is.
func claimedJPEG(b []byte) int64 {
	const startOfFrame, startOfScan = 0xc0, 0xda
	for at := 2; at+10 <= len(b) && b[at] == 0xff; {
		marker := b[at+1]
		if marker == 0xff { // filling
			at++
			continue
		}
		if marker >= startOfFrame && marker <= startOfFrame+2 {
			height, width := int64(binary.BigEndian.Uint16(b[at+5:])), int64(binary.BigEndian.Uint16(b[at+7:]))
			if checkSize(int(width), int(height)) != nil {
				return 0
			}
			switch b[at+9] { // channels
			case 1:
				return width * height
			case 3:
				return 8 * width * height // with what the colours are made of
			}
			return 4 * width * height
		}
		if marker == startOfScan {
			return 0
		}
		at += 2 + int(binary.BigEndian.Uint16(b[at+2:]))
	}
	return 0
}

func (f imageFormat) read(b []byte) (any, error) {
	v, err := guarded(func() (any, error) { return f.decode(b) })
	if err != nil {
		return nil, fmt.Errorf("codec: %s: %w", f.name, err)
	}
	return v, nil
}

func (f imageFormat) write(v any) ([]byte, error) {
	var buf bytes.Buffer
	_, err := guarded(func() (any, error) { return nil, f.encode(&buf, v) })
	if err != nil {
		return nil, fmt.Errorf("codec: %s: %w", f.name, err)
	}
	return buf.Bytes(), nil
}

// plainImage is an encoder of one image.Image.
func plainImage(name string, encode func(io.Writer, image.Image) error) func(io.Writer, any) error {
	return func(w io.Writer, v any) error {
		img, err := imageOf(name, v)
		if err != nil {
			return err
		}
		if err := checkSize(img.Bounds().Dx(), img.Bounds().Dy()); err != nil {
			return err
		}
		return encode(w, img)
	}
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
	return nil, fmt.Errorf("a %T cannot be written as %s; it takes an image.Image, or an *array.Array of pixels", v, name)
}

// checked returns the header of an image. One of more pixels than allowed, or
// than b can hold if a byte stands for perByte of them (0 for any number), is an
// error.
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
		return fmt.Errorf("%d x %d pixels are claimed by a file of %d bytes", width, height, size)
	}
	return nil
}

func pixelLimit() int64 {
	if limit := MaxPixels.Load(); limit > 0 {
		return limit
	}
	return defaultMaxPixels
}

func checkSize(width, height int) error {
	limit := pixelLimit()
	if width <= 0 || height <= 0 {
		return fmt.Errorf("an image of %d x %d pixels", width, height)
	}
	if int64(width) > limit/int64(height) {
		return fmt.Errorf("an image of %d x %d pixels; more than %d need codec.MaxPixels to allow it", width, height, limit)
	}
	return nil
}

// asRGBA returns an opaque image as one that stands for colour without alpha.
func asRGBA(img *image.NRGBA) *image.RGBA {
	return &image.RGBA{Pix: img.Pix, Stride: img.Stride, Rect: img.Rect}
}
