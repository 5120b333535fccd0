package codec

import (
	"encoding/binary"
	"image"
	"io"
	"slices"

	"github.com/larder-data/larder/array"
)

// encodeBMP writes grey as a palette of greys, colour with 24 bits, and alpha with 32 bits
// and a header with an alpha mask (version 4). It writes the upper 8 of 16 bits per
// channel. Palettes become colours, CMYK becomes RGB.
func encodeBMP(w io.Writer, img image.Image) error {
	channels := bmpChannels(img)
	a, err := array.FromImage(img, channels)
	if err != nil {
		return err
	}
	width, height, data := a.Shape[1], a.Shape[0], upper(a)
	head, palette := 40, []byte(nil)
	if channels == 4 {
		head = 108
	}
	if channels == 1 {
		for i := range 256 {
			palette = append(palette, byte(i), byte(i), byte(i), 0)
		}
	}
	row := (width*channels + 3) / 4 * 4
	out := bmpHeader(head, width, height, channels, len(palette), row*height)
	out = append(slices.Grow(out, len(palette)+row*height), palette...)
	for y := height - 1; y >= 0; y-- {
		out = appendBGR(out, data[y*width*channels:][:width*channels], channels)
		out = append(out, make([]byte, row-width*channels)...)
	}
	_, err = w.Write(out)
	return err
}

// bmpChannels returns the number of channels in the BMP: grey loses alpha.
func bmpChannels(img image.Image) int {
	n, _ := array.Channels(img)
	if _, inks := img.(*image.CMYK); inks {
		return 3
	}
	if n == 2 || n == 3 && !isOpaque(img) {
		return 4
	}
	return n
}

func isOpaque(img image.Image) bool {
	o, ok := img.(interface{ Opaque() bool })
	return ok && o.Opaque()
}

// upper returns the upper 8 bits of pixels.
func upper(a *array.Array) []byte {
	if a.DType == array.Uint8 {
		return a.Data
	}
	return pick(a.Data, 2, 1)
}

func bmpHeader(head, width, height, channels, palette, size int) []byte {
	le := binary.LittleEndian
	start := 14 + head + palette
	b := make([]byte, 14+head)
	copy(b, "BM")
	le.PutUint32(b[2:], uint32(start+size))
	le.PutUint32(b[10:], uint32(start))
	le.PutUint32(b[14:], uint32(head))
	le.PutUint32(b[18:], uint32(width))
	le.PutUint32(b[22:], uint32(height))
	le.PutUint16(b[26:], 1)
	le.PutUint16(b[28:], uint16(8*channels))
	le.PutUint32(b[34:], uint32(size))
	if channels == 4 {
		le.PutUint32(b[30:], bmpMasks)
		for i, mask := range []uint32{0xff0000, 0xff00, 0xff, 0xff000000} {
			le.PutUint32(b[54+4*i:], mask)
		}
		copy(b[70:], "BGRs") // sRGB
	}
	return b
}

// appendBGR appends a row with blue first.
func appendBGR(dst, row []byte, channels int) []byte {
	switch channels {
	case 1:
		return append(dst, row...)
	case 3:
		for ; len(row) > 0; row = row[3:] {
			dst = append(dst, row[2], row[1], row[0])
		}
	case 4:
		for ; len(row) > 0; row = row[4:] {
			dst = append(dst, row[2], row[1], row[0], row[3])
		}
	}
	return dst
}
