package codec

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"regexp"
	"strconv"
	"strings"

	"github.com/larder-data/larder/array"
)

// decodeTIFF reads TIFF and BigTIFF: grey and colour (also with alpha), CMYK and palettes.
// Samples have 1 to 64 bits, integer or floating point, in strips or tiles, uncompressed or
// with deflate, LZW, PackBits or fax compression.
//
// One page of 8 or 16 bits is an image. Everything else is an array: (height, width) or
// (height, width, samples) of other numbers; (pages, height, width) or (pages, height,
// width, samples) of several pages, which must be alike. Thumbnails and masks do not count
// as pages. A shape that tifffile noted in the description of the first page takes
// precedence: Pipewine writes through tifffile, which makes a page of each row of a colour
// image.
func decodeTIFF(b []byte) (any, error) {
	directories, err := parseTIFF(b)
	if err != nil {
		return nil, err
	}
	var pages []*tiffPage
	left := pixelLimit()
	for i, d := range directories {
		if d.number(tagSubfile, 0)&5 != 0 { // reduced, or a mask
			continue
		}
		p, err := newTIFFPage(d)
		if err != nil {
			return nil, fmt.Errorf("page %d: %w", i, err)
		}
		if left -= int64(p.width) * int64(p.height); left < 0 {
			return nil, fmt.Errorf("%d pages exceed the limit of %d pixels; %w", len(pages), pixelLimit(), morePixels)
		}
		if len(pages) > 0 && !p.like(pages[0]) {
			return nil, fmt.Errorf("page %d differs from the first in size, channels or element type; save each page as a file", i)
		}
		pages = append(pages, p)
	}
	if len(pages) == 0 {
		return nil, errors.New("the file has no pages")
	}
	return readPages(pages)
}

// like reports whether two pages fit into one array.
func (p *tiffPage) like(q *tiffPage) bool {
	return p.width == q.width && p.height == q.height && p.samples == q.samples && p.dtype == q.dtype && p.photometric == q.photometric
}

func readPages(pages []*tiffPage) (any, error) {
	if err := pages[0].checkCount(len(pages)); err != nil {
		return nil, err
	}
	noted := pages[0].noted(len(pages))
	if len(pages) == 1 && (noted == nil || equalShapes(noted, pages[0].shape())) {
		return pages[0].value()
	}
	var data []byte
	var shape []int
	dtype := pages[0].dtype
	for i, p := range pages {
		page, err := p.value()
		if err == nil {
			err = appendPage(&data, &shape, page)
		}
		if err != nil {
			return nil, fmt.Errorf("page %d: %w", i, err)
		}
	}
	a, err := array.New(dtype, append([]int{len(pages)}, shape...), data)
	if err != nil {
		return nil, err
	}
	if noted == nil {
		return a, nil
	}
	if a.Shape = noted; a.IsImage() {
		return a.Image()
	}
	return a, nil
}

func appendPage(data *[]byte, shape *[]int, page any) error {
	a, ok := page.(*array.Array)
	if img, is := page.(image.Image); !ok && is {
		var err error
		if a, err = array.FromImage(img, 0); err != nil {
			return err
		}
	}
	if *shape != nil && !equalShapes(*shape, a.Shape) {
		return fmt.Errorf("shape is %v, but earlier pages have %v", a.Shape, *shape)
	}
	*shape, *data = a.Shape, append(*data, a.Data...)
	return nil
}

func equalShapes(a, b []int) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

var imageJCount = regexp.MustCompile(`(?m)^images=(\d+)\r?$`)

// checkCount returns an error if the file claims more pages than it describes: ImageJ and
// tifffile write large files so.
func (p *tiffPage) checkCount(pages int) error {
	text := p.text(tagDescription)
	declared := imageJCount.FindStringSubmatch(text)
	if strings.HasPrefix(text, "ImageJ=") && declared != nil && declared[1] != strconv.Itoa(pages) {
		return fmt.Errorf("ImageJ declares %s pages, but the file has directories for %d; save with one each", declared[1], pages)
	}
	if strings.HasPrefix(text, `{"shape": [`) && strings.Contains(text, `"truncated": true`) {
		return errors.New("only the first page has a directory; write with tifffile without truncate")
	}
	return nil
}

// noted returns the shape that tifffile noted for all pages of the file, nil if there is no
// plausible one.
func (p *tiffPage) noted(pages int) []int {
	text := p.text(tagDescription)
	if !strings.HasPrefix(text, `{"shape": [`) {
		return nil
	}
	var note struct{ Shape []int }
	if json.Unmarshal([]byte(text), &note) != nil || len(note.Shape) > array.MaxRank {
		return nil
	}
	size, err := array.Bytes(p.dtype, note.Shape)
	want, _ := array.Bytes(p.dtype, append(p.shape(), pages))
	if err != nil || size != want || p.planes > 1 {
		return nil
	}
	return note.Shape
}

// shape returns the shape of the page alone.
func (p *tiffPage) shape() []int {
	if p.channels() > 1 {
		return []int{p.height, p.width, p.channels()}
	}
	return []int{p.height, p.width}
}

// channels returns the number of channels per decoded pixel: three for a palette.
func (p *tiffPage) channels() int {
	if p.photometric == paletted {
		return 3
	}
	return p.samples
}

// value reads a page: an image.Image if possible, otherwise an array.
func (p *tiffPage) value() (any, error) {
	data, err := p.read()
	if err != nil {
		return nil, err
	}
	shape := []int{p.height, p.width}
	if p.samples > 1 {
		shape = append(shape, p.samples)
	}
	a, err := array.New(p.dtype, shape, data)
	if err != nil {
		return nil, err
	}
	extra, declared := p.extra()
	switch {
	case p.photometric == whiteIsZero:
		for i := range data {
			data[i] = ^data[i]
		}
	case p.photometric == paletted:
		return p.withPalette(data)
	case p.photometric == separated && p.samples == 4 && p.dtype == array.Uint8:
		return &image.CMYK{Pix: data, Stride: 4 * p.width, Rect: image.Rect(0, 0, p.width, p.height)}, nil
	case p.photometric == separated:
		return a, nil
	}
	if extra == 1 && declared == associatedAlpha {
		if err := straighten(a); err != nil {
			return nil, err
		}
	}
	if !a.IsImage() || extra > 1 || extra == 1 && declared == noAlpha {
		return a, nil
	}
	return a.Image()
}

// Meanings of a sample in addition to grey or colour.
const (
	noAlpha         = 0
	associatedAlpha = 1
	otherAlpha      = 2 // or unspecified
)

// extra returns the number of samples in addition to grey or colour, and the meaning of the
// first.
func (p *tiffPage) extra() (n int, is uint64) {
	n = p.samples - 1
	if p.photometric == colourRGB {
		n = p.samples - 3
	}
	return n, p.number(tagExtra, otherAlpha)
}

// straighten divides premultiplied samples by alpha.
func straighten(a *array.Array) error {
	n := a.Shape[2]
	switch a.DType {
	case array.Uint8:
		for p := a.Data; len(p) > 0; p = p[n:] {
			for i := range n - 1 {
				p[i] = byte(divided(uint64(p[i]), uint64(p[n-1]), 255))
			}
		}
	case array.Uint16:
		le := binary.LittleEndian
		for p := a.Data; len(p) > 0; p = p[2*n:] {
			for i := range n - 1 {
				le.PutUint16(p[2*i:], uint16(divided(uint64(le.Uint16(p[2*i:])), uint64(le.Uint16(p[2*n-2:])), 65535)))
			}
		}
	default:
		return fmt.Errorf("premultiplied colours of type %v are not supported; save straight alpha", a.DType)
	}
	return nil
}

func divided(v, alpha, most uint64) uint64 {
	if alpha == 0 {
		return 0
	}
	return min(most, (v*most+alpha/2)/alpha)
}

// withPalette reads the palette, red first, of 16 bits of which the upper 8 count.
func (p *tiffPage) withPalette(data []byte) (any, error) {
	all, n := p.numbers(tagColorMap), 1<<p.bits
	if len(all) != 3*n {
		return nil, fmt.Errorf("the palette has %d numbers, expected %d", len(all), 3*n)
	}
	img := image.NewPaletted(image.Rect(0, 0, p.width, p.height), make(color.Palette, n))
	for i := range n {
		img.Palette[i] = color.RGBA{uint8(all[i] >> 8), uint8(all[n+i] >> 8), uint8(all[2*n+i] >> 8), 255}
	}
	img.Pix = data
	return img, nil
}
