package codec

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"io"

	"github.com/klauspost/compress/zlib"

	"github.com/larder-data/larder/array"
)

// readPNG reads the most common PNGs in three quarters of the time of image/png: 8 bits per
// channel, not interlaced. ok is false for all other or faulty files, so that image/png
// alone defines what an error is. Pixels equal those of image/png, except that grey with
// alpha stays grey.
func readPNG(b []byte) (img image.Image, ok bool) {
	f, ok := splitPNG(b)
	if !ok {
		return nil, false
	}
	data := bytes.NewReader(f.data)
	z, err := zlib.NewReader(data)
	if err != nil {
		return nil, false
	}
	img, ok = f.pixels(z)
	if !ok {
		return nil, false
	}
	// The checksum follows the pixels and ends the data.
	if n, err := z.Read(make([]byte, 1)); n != 0 || err != io.EOF || data.Len() > 0 {
		return nil, false
	}
	return img, true
}

// filePNG holds the parts of a file.
type filePNG struct {
	width, height int
	kind          byte // colour type, alpha, palette
	palette       color.Palette
	data          []byte // compressed
}

// Colour types of PNG.
const (
	pngIsGrey      = 0
	pngIsColour    = 2
	pngIsPalette   = 3
	pngIsGreyAlpha = 4
	pngIsRGBA      = 6
)

// splitPNG finds the parts of a file whose chunks are in order and sound.
func splitPNG(b []byte) (f filePNG, ok bool) {
	if !bytes.HasPrefix(b, []byte(pngStart)) {
		return f, false
	}
	before := ""
	for b = b[len(pngStart):]; ; {
		kind, data, rest, ok := chunkPNG(b)
		if !ok || !f.take(before, kind, data) {
			return f, false
		}
		if kind == "IEND" {
			return f, f.data != nil && len(data) == 0
		}
		before, b = kind, rest
	}
}

// chunkPNG returns the first chunk, unless its checksum is wrong.
func chunkPNG(b []byte) (kind string, data, rest []byte, ok bool) {
	const head, sum = 8, 4
	if len(b) < head+sum {
		return "", nil, nil, false
	}
	size := int64(binary.BigEndian.Uint32(b))
	if size > int64(len(b)-head-sum) {
		return "", nil, nil, false
	}
	end := head + int(size)
	return string(b[4:head]), b[head:end:end], b[end+sum:], crc32.ChecksumIEEE(b[4:end]) == binary.BigEndian.Uint32(b[end:])
}

// take stores a chunk that follows a chunk of type before.
func (f *filePNG) take(before, kind string, data []byte) bool {
	switch {
	case kind == "IHDR":
		return before == "" && f.header(data)
	case before == "":
		return false
	case kind == "PLTE":
		return f.data == nil && f.kind == pngIsPalette && f.palette == nil && f.colours(data)
	case kind == "tRNS":
		return f.data == nil && f.alphas(data)
	case kind == "IDAT" && f.data == nil:
		f.data = data
		return f.kind != pngIsPalette || f.palette != nil
	case kind == "IDAT":
		f.data = append(f.data, data...) // copies the first chunk, whose capacity is its length
		return before == "IDAT"
	}
	return true
}

func (f *filePNG) header(data []byte) bool {
	if len(data) != 13 || data[8] != 8 || data[10] != 0 || data[11] != 0 || data[12] != 0 {
		return false
	}
	f.width, f.height, f.kind = int(binary.BigEndian.Uint32(data)), int(binary.BigEndian.Uint32(data[4:])), data[9]
	return checkSize(f.width, f.height) == nil
}

func (f *filePNG) colours(data []byte) bool {
	if len(data) == 0 || len(data)%3 != 0 || len(data) > 3*256 {
		return false
	}
	for ; len(data) > 0; data = data[3:] {
		f.palette = append(f.palette, color.RGBA{data[0], data[1], data[2], 255})
	}
	return true
}

// alphas stores the alpha of the first palette colours.
func (f *filePNG) alphas(data []byte) bool {
	if len(data) > len(f.palette) {
		return false
	}
	for i, a := range data {
		c, ok := f.palette[i].(color.RGBA)
		if !ok {
			return false // it has some already
		}
		f.palette[i] = color.NRGBA{c.R, c.G, c.B, a}
	}
	return true
}

// pixels reads the rows.
func (f *filePNG) pixels(r io.Reader) (image.Image, bool) {
	bounds := image.Rect(0, 0, f.width, f.height)
	switch f.kind {
	case pngIsGrey:
		m := image.NewGray(bounds)
		return m, f.rows(r, m.Pix, 1)
	case pngIsGreyAlpha:
		m := array.NewGrayAlpha(bounds)
		return m, f.rows(r, m.Pix, 2)
	case pngIsRGBA:
		m := image.NewNRGBA(bounds)
		return m, f.rows(r, m.Pix, 4)
	case pngIsPalette:
		m := image.NewPaletted(bounds, f.palette)
		if !f.rows(r, m.Pix, 1) {
			return nil, false
		}
		for _, i := range m.Pix {
			if int(i) >= len(f.palette) {
				return nil, false
			}
		}
		return m, true
	case pngIsColour:
		m := image.NewRGBA(bounds)
		return m, f.opaqueRows(r, m)
	}
	return nil, false
}

// rows reads rows of pixels of the given size into pix.
func (f *filePNG) rows(r io.Reader, pix []byte, pixel int) bool {
	n := f.width * pixel
	row, above := make([]byte, 1+n), make([]byte, n)
	for ; len(pix) > 0; pix = pix[n:] {
		if _, err := io.ReadFull(r, row); err != nil || !unfilter(row[0], row[1:], above, pixel) {
			return false
		}
		above = pix[:n]
		copy(above, row[1:])
	}
	return true
}

// opaqueRows reads rows of colours, and adds opaque alpha.
func (f *filePNG) opaqueRows(r io.Reader, to *image.RGBA) bool {
	row, above := make([]byte, 1+3*f.width), make([]byte, 1+3*f.width)
	for y := range f.height {
		if _, err := io.ReadFull(r, row); err != nil || !unfilter(row[0], row[1:], above[1:], 3) {
			return false
		}
		out := to.Pix[y*to.Stride:][:4*f.width]
		for from := row[1:]; len(from) >= 3 && len(out) >= 4; from, out = from[3:], out[4:] {
			out[0], out[1], out[2], out[3] = from[0], from[1], from[2], 255
		}
		row, above = above, row
	}
	return true
}

// unfilter restores the bytes of a row by adding their prediction from the pixels before
// and above (PNG specification, 9.2).
func unfilter(filter byte, row, above []byte, pixel int) bool {
	above = above[:len(row)]
	switch filter {
	case 0:
	case 1:
		for i := pixel; i < len(row); i++ {
			row[i] += row[i-pixel]
		}
	case 2:
		for i, v := range above {
			row[i] += v
		}
	case 3:
		for i := range pixel {
			row[i] += above[i] / 2
		}
		for i := pixel; i < len(row); i++ {
			row[i] += byte((int(row[i-pixel]) + int(above[i])) / 2)
		}
	case 4:
		for i := range pixel {
			row[i] += above[i]
		}
		nearest(row, above, pixel)
	default:
		return false
	}
	return true
}

// nearest adds the Paeth prediction: the left, upper or upper left byte that is nearest to
// a plane through them, the first of equal ones. It has no branches that depend on pixels.
func nearest(row, above []byte, pixel int) {
	above = above[:len(row)]
	for i, at := pixel, 0; i < len(row) && at < i; i, at = i+1, at+1 {
		left, up, both := int(row[at]), int(above[i]), int(above[at])
		byLeft, byUp := up-both, left-both
		least, v := distance(byLeft), left
		if d := distance(byUp); d < least {
			least, v = d, up
		}
		if distance(byLeft+byUp) < least {
			v = both
		}
		row[i] += byte(v)
	}
}

func distance(v int) int {
	sign := v >> 63
	return (v ^ sign) - sign
}
