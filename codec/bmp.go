package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math/bits"
)

// A bmpFile holds the headers of a BMP: of OS/2 (12 bytes) or of Windows (40 to 124 bytes).
type bmpFile struct {
	width, height int
	upward        bool // the first row is the bottom
	depth         int  // bits per pixel
	compression   uint32
	masks         [4]uint32 // red, green, blue, alpha
	palette       color.Palette
	pixels        []byte
}

// The supported compressions.
const (
	bmpPlain      = 0
	bmpRLE8       = 1
	bmpRLE4       = 2
	bmpMasks      = 3
	bmpAlphaMasks = 6
)

// decodeBMP reads 1 to 32 bits per pixel, with run lengths too. There is alpha only if the
// header assigns bits to it: unassigned bits are ignored. A palette of greys in even steps
// from black to white is grey.
func decodeBMP(b []byte) (any, error) {
	f, err := parseBMP(b)
	if err != nil {
		return nil, err
	}
	if err := checkSize(f.width, f.height); err != nil {
		return nil, err
	}
	if f.compression == bmpRLE8 || f.compression == bmpRLE4 {
		if err := checkClaim(int64(f.width), int64(f.height), 1<<14, len(b)); err != nil {
			return nil, err
		}
		return f.greyed(f.unpackRuns())
	}
	row := (f.width*f.depth + 31) / 32 * 4
	if row*f.height > len(f.pixels) {
		return nil, fmt.Errorf("%d x %d pixels of %d bits need %d bytes, but there are %d", f.width, f.height, f.depth, row*f.height, len(f.pixels))
	}
	if f.depth <= 8 {
		return f.greyed(f.indices(row))
	}
	return f.colours(row), nil
}

func parseBMP(b []byte) (*bmpFile, error) {
	le := binary.LittleEndian
	if len(b) < 26 || string(b[:2]) != "BM" {
		return nil, errors.New("not a BMP file; the first two bytes are not BM")
	}
	start, size := int64(le.Uint32(b[10:])), int64(le.Uint32(b[14:]))
	if size != 12 && (size < 40 || size > 124) || 14+size > int64(len(b)) {
		return nil, fmt.Errorf("header of %d bytes is truncated or not supported", size)
	}
	f := &bmpFile{upward: true}
	entry := 4
	var colours int64
	if size == 12 {
		f.width, f.height = int(le.Uint16(b[18:])), int(le.Uint16(b[20:]))
		f.depth, entry = int(le.Uint16(b[24:])), 3
	} else {
		f.width, f.height = int(int32(le.Uint32(b[18:]))), int(int32(le.Uint32(b[22:])))
		f.depth, f.compression = int(le.Uint16(b[28:])), le.Uint32(b[30:])
		colours = int64(le.Uint32(b[46:]))
	}
	if f.height < 0 {
		f.height, f.upward = -f.height, false
	}
	after := 14 + size
	if f.masked() && size == 40 {
		after += 12
		if f.compression == bmpAlphaMasks {
			after += 4
		}
	}
	if start < after || start > int64(len(b)) || after > int64(len(b)) {
		return nil, fmt.Errorf("the pixels start at byte %d of only %d", start, len(b))
	}
	f.pixels = b[start:]
	if err := f.setMasks(b, size); err != nil {
		return nil, err
	}
	if f.depth <= 8 {
		return f, f.readPalette(b[after:start], entry, colours)
	}
	return f, nil
}

func (f *bmpFile) masked() bool { return f.compression == bmpMasks || f.compression == bmpAlphaMasks }

// setMasks determines the bits of each colour, and refuses unsupported formats.
func (f *bmpFile) setMasks(b []byte, size int64) error {
	switch c, d := f.compression, f.depth; {
	case c == bmpPlain && (d == 1 || d == 2 || d == 4 || d == 8 || d == 24), c == bmpRLE8 && d == 8, c == bmpRLE4 && d == 4:
	case c == bmpPlain && d == 16:
		f.masks = [4]uint32{0x7c00, 0x03e0, 0x001f}
	case c == bmpPlain && d == 32:
		f.masks = [4]uint32{0xff0000, 0xff00, 0xff}
	case f.masked() && (d == 16 || d == 32):
		n := 3
		if size >= 56 || c == bmpAlphaMasks {
			n = 4
		}
		for i := range n {
			m := binary.LittleEndian.Uint32(b[54+4*i:])
			if m>>bits.TrailingZeros32(m)&(m>>bits.TrailingZeros32(m)+1) != 0 || i < 3 && m == 0 {
				return fmt.Errorf("%#x is not a mask of a colour", m)
			}
			f.masks[i] = m
		}
	default:
		return fmt.Errorf("%d bits per pixel with compression %d are not supported; save the image without compression", d, c)
	}
	return nil
}

func (f *bmpFile) readPalette(b []byte, entry int, colours int64) error {
	n := int64(1) << f.depth
	if colours > 0 && colours < n {
		n = colours
	}
	n = min(n, int64(len(b)/entry))
	if n == 0 {
		return errors.New("the palette is missing")
	}
	for i := range n {
		c := b[i*int64(entry):]
		f.palette = append(f.palette, color.RGBA{c[2], c[1], c[0], 255})
	}
	return nil
}

// line returns the stored row of row y of the image.
func (f *bmpFile) line(y int) int {
	if f.upward {
		return f.height - 1 - y
	}
	return y
}

// indices reads palette indices of 1 to 8 bits.
func (f *bmpFile) indices(row int) *image.Paletted {
	img := image.NewPaletted(image.Rect(0, 0, f.width, f.height), f.palette)
	for y := range f.height {
		from, to := f.pixels[f.line(y)*row:], img.Pix[y*img.Stride:]
		for x := range f.width {
			at := x * f.depth
			to[x] = from[at/8] >> (8 - f.depth - at%8) & (1<<f.depth - 1)
		}
	}
	return img
}

// greyed returns a palette image, as grey if its palette is grey. Indices beyond the
// palette are an error.
func (f *bmpFile) greyed(img *image.Paletted) (any, error) {
	n := len(f.palette)
	for _, v := range img.Pix {
		if int(v) >= n {
			return nil, fmt.Errorf("a pixel has colour %d, but the palette has %d", v, n)
		}
	}
	for i, c := range f.palette {
		want := uint8(255)
		if n > 1 {
			want = uint8(255 * i / (n - 1))
		}
		if n < 2 || n&(n-1) != 0 || c != (color.RGBA{want, want, want, 255}) {
			return img, nil
		}
	}
	grey := &image.Gray{Pix: img.Pix, Stride: img.Stride, Rect: img.Rect}
	for i, v := range grey.Pix {
		grey.Pix[i] = f.palette[v].(color.RGBA).R
	}
	return grey, nil
}

// colours reads pixels of 16, 24 or 32 bits.
func (f *bmpFile) colours(row int) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, f.width, f.height))
	for y := range f.height {
		from, to := f.pixels[f.line(y)*row:], img.Pix[y*img.Stride:]
		for x := range f.width {
			p := to[4*x : 4*x+4 : 4*x+4]
			if f.depth == 24 {
				c := from[3*x : 3*x+3 : 3*x+3]
				p[0], p[1], p[2], p[3] = c[2], c[1], c[0], 255
				continue
			}
			v := uint32(binary.LittleEndian.Uint16(from[x*f.depth/8:]))
			if f.depth == 32 {
				v = binary.LittleEndian.Uint32(from[4*x:])
			}
			for i, m := range f.masks {
				p[i] = masked(v, m)
			}
		}
	}
	if f.masks[3] == 0 {
		return asRGBA(img)
	}
	return img
}

// masked returns the bits of a mask, scaled to 8 and rounded down as Pillow does; 255 for
// an empty mask.
func masked(v, mask uint32) uint8 {
	if mask == 0 {
		return 255
	}
	shift := bits.TrailingZeros32(mask)
	most := uint64(mask >> shift)
	return uint8(uint64(v&mask>>shift) * 255 / most)
}
