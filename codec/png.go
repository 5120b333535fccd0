package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/draw"
	"image/png"
	"io"
	"sync"

	"github.com/larder-data/larder/array"
)

// decodePNG reads grey, grey with alpha, colour, colour with alpha (8 or 16 bits; fewer
// become 8), and palettes. A transparent colour becomes alpha.
func decodePNG(b []byte) (any, error) {
	// Deflate expands a byte to at most 1032 bytes.
	if _, err := checked(b, 8*1040, png.DecodeConfig); err != nil {
		return nil, err
	}
	grey, animated := pngGrey(b)
	if animated {
		return nil, errors.New("animations are not supported; save each frame as an image, or all as GIF or TIFF")
	}
	if img, ok := readPNG(b); ok {
		return img, nil
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil || !grey {
		return img, err
	}
	switch m := img.(type) { // grey with alpha, which image/png reads as colour
	case *image.NRGBA:
		return &array.GrayAlpha{Pix: pick(m.Pix, 4, 2, 3), Stride: 2 * m.Rect.Dx(), Rect: m.Rect}, nil
	case *image.NRGBA64:
		return &array.GrayAlpha16{Pix: pick(m.Pix, 8, 4, 5, 6, 7), Stride: 4 * m.Rect.Dx(), Rect: m.Rect}, nil
	}
	return img, nil
}

// pick returns selected bytes of each pixel.
func pick(pix []byte, size int, which ...int) []byte {
	out := make([]byte, 0, len(pix)/size*len(which))
	for ; len(pix) >= size; pix = pix[size:] {
		for _, at := range which {
			out = append(out, pix[at])
		}
	}
	return out
}

// pngGrey reads the chunks before the pixels: whether there is no colour, and whether there
// are several frames.
func pngGrey(b []byte) (grey, animated bool) {
	const start, head, crc = 8, 8, 4
	for at := start; at+head <= len(b); {
		size := int(binary.BigEndian.Uint32(b[at:]))
		kind, data := string(b[at+4:at+head]), b[at+head:]
		if size < 0 || size > len(data) || kind == "IDAT" {
			break
		}
		switch {
		case kind == "IHDR" && size > 9:
			grey = data[9]&2 == 0
		case kind == "acTL" && size >= 4:
			animated = binary.BigEndian.Uint32(data) > 1
		}
		at += head + size + crc
	}
	return grey, animated
}

// pngBuffers lets encoders reuse buffers, which are larger than most images.
type pngBuffers struct{}

var usedPNGBuffers sync.Pool

// Get returns buffers that the encoder writes before it reads them.
//
//larder:version 1
func (pngBuffers) Get() *png.EncoderBuffer {
	b, _ := usedPNGBuffers.Get().(*png.EncoderBuffer)
	return b
}

// Put stores buffers for reuse.
//
//larder:version 1
func (pngBuffers) Put(b *png.EncoderBuffer) { usedPNGBuffers.Put(b) }

// encodePNG writes the channels of the image's type. The standard library has no grey with
// alpha, drops alpha if all pixels are opaque, and takes nine times longer to save three
// per cent.
func encodePNG(w io.Writer, img image.Image) error {
	pngEncoder := png.Encoder{BufferPool: pngBuffers{}}
	switch m := img.(type) {
	case *image.Paletted:
		return pngEncoder.Encode(w, m)
	case *image.YCbCr, *image.CMYK: // would get 16 bits per channel
		rgba := image.NewRGBA(m.Bounds())
		draw.Draw(rgba, rgba.Rect, m, rgba.Rect.Min, draw.Src)
		return writePNG(w, rgba, 3)
	case *image.RGBA:
		if m.Opaque() { // otherwise it is foreign, and has alpha
			return writePNG(w, m, 3)
		}
	case *image.RGBA64:
		if m.Opaque() {
			return writePNG(w, m, 3)
		}
	case *image.Gray, *image.Gray16, *array.GrayAlpha, *array.GrayAlpha16, *image.NRGBA64:
		return writePNG(w, m, 0)
	}
	return writePNG(w, img, 4)
}
