package codec

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"

	"github.com/larder-data/larder/array"
)

// encodeTIFF writes an image or array: one page if its shape is (height, width) or (height,
// width, 1 to 4), otherwise pages, with the shape noted as tifffile does. Numbers keep
// their type. Pages are compressed by deflate, with differences along rows for 8 or 16
// bits.
func encodeTIFF(w io.Writer, v any) error {
	t := &tiffWriter{}
	switch v := v.(type) {
	case image.Image:
		if err := t.setImage(v); err != nil {
			return err
		}
	case *array.Array:
		if v == nil {
			return errors.New("a nil array cannot be written")
		}
		t.a = v
	case array.Array:
		t.a = &v
	default:
		_, err := imageOf(v)
		return err
	}
	if err := t.layOut(); err != nil {
		return err
	}
	return t.write(w)
}

// A tiffWriter writes a little-endian TIFF file.
type tiffWriter struct {
	a           *array.Array
	inks        bool // CMYK
	pages       int
	shape       [3]int // height, width, samples of a page
	format      int
	photometric int
	out         []byte
}

// setImage uses the channels of an image's type.
func (t *tiffWriter) setImage(img image.Image) (err error) {
	if err := checkSize(img.Bounds().Dx(), img.Bounds().Dy()); err != nil {
		return err
	}
	_, t.inks = img.(*image.CMYK)
	channels := 0
	if n, _ := array.Channels(img); n == 3 && !isOpaque(img) {
		channels = 4
	}
	t.a, err = array.FromImage(img, channels)
	return err
}

// layOut determines the pages.
func (t *tiffWriter) layOut() error {
	if err := t.a.Validate(); err != nil {
		return err
	}
	switch d := t.a.DType; {
	case d >= array.Uint8 && d <= array.Uint64:
		t.format = 1
	case d >= array.Int8 && d <= array.Int64:
		t.format = 2
	case d == array.Float16 || d == array.Float32 || d == array.Float64:
		t.format = 3
	default:
		return fmt.Errorf("elements of type %v cannot be written; convert to uint8 or float32", d)
	}
	shape := t.a.Shape
	if len(shape) < 2 || len(t.a.Data) == 0 {
		return fmt.Errorf("shape %v is not an image; give (height, width), (height, width, channels) or (pages, ...)", shape)
	}
	samples := 1
	if last := shape[len(shape)-1]; len(shape) > 2 && last <= 4 {
		samples, shape = last, shape[:len(shape)-1]
	}
	n := len(shape)
	t.shape, t.pages = [3]int{shape[n-2], shape[n-1], samples}, 1
	for _, d := range shape[:n-2] {
		t.pages *= d
	}
	for _, side := range t.shape[:2] {
		if side > 1<<31-1 {
			return fmt.Errorf("an array of shape %v is too large for TIFF", t.a.Shape)
		}
	}
	t.photometric = blackIsZero
	switch {
	case t.inks:
		t.photometric = separated
	case samples >= 3:
		t.photometric = colourRGB
	}
	return nil
}

func (t *tiffWriter) write(w io.Writer) error {
	t.out = append(t.out, "II*\x00\x00\x00\x00\x00"...)
	link := 4
	size := len(t.a.Data) / t.pages
	for page := range t.pages {
		data, err := t.pack(t.a.Data[page*size:][:size])
		if err != nil {
			return err
		}
		at := len(t.out)
		t.out = append(t.out, data...)
		if int64(len(t.out)) > 1<<32-1<<16 {
			return errors.New("the image exceeds 4 GiB; write several files")
		}
		t.even()
		binary.LittleEndian.PutUint32(t.out[link:], uint32(len(t.out)))
		link = t.directory(page, at, len(data))
	}
	_, err := w.Write(t.out)
	return err
}

func (t *tiffWriter) even() {
	if len(t.out)%2 != 0 {
		t.out = append(t.out, 0)
	}
}

// differs reports whether rows are written as differences.
func (t *tiffWriter) differs() bool { return t.a.DType.Size() <= 2 && t.format != 3 }

func (t *tiffWriter) pack(data []byte) ([]byte, error) {
	size := t.a.DType.Size()
	row, step := t.shape[1]*t.shape[2]*size, t.shape[2]*size
	buffer, le := make([]byte, row), binary.LittleEndian
	return deflated(func(z io.Writer) error {
		if !t.differs() {
			_, err := z.Write(data)
			return err
		}
		for ; len(data) > 0; data = data[row:] {
			copy(buffer, data)
			for i := row - size; i >= step; i -= size {
				if size == 1 {
					buffer[i] -= buffer[i-step]
				} else {
					le.PutUint16(buffer[i:], le.Uint16(buffer[i:])-le.Uint16(buffer[i-step:]))
				}
			}
			if _, err := z.Write(buffer); err != nil {
				return err
			}
		}
		return nil
	})
}

// directory writes the description of a page, and returns the position for the offset of
// the next one.
func (t *tiffWriter) directory(page, at, size int) (link int) {
	samples, predictor := t.shape[2], 1
	if t.differs() {
		predictor = 2
	}
	fields := []tiffOut{
		{tagWidth, 4, []int{t.shape[1]}, ""},
		{tagHeight, 4, []int{t.shape[0]}, ""},
		{tagBits, 3, repeated(8*t.a.DType.Size(), samples), ""},
		{tagCompression, 3, []int{8}, ""},
		{tagPhotometric, 3, []int{t.photometric}, ""},
		{tagDescription, 2, nil, t.note(page)},
		{tagStripOffsets, 4, []int{at}, ""},
		{tagSamples, 3, []int{samples}, ""},
		{tagRowsPerStrip, 4, []int{t.shape[0]}, ""},
		{tagStripBytes, 4, []int{size}, ""},
		{tagPlanar, 3, []int{1}, ""},
		{tagPredictor, 3, []int{predictor}, ""},
		{tagExtra, 3, t.extraSamples(), ""},
		{tagSampleFormat, 3, repeated(t.format, samples), ""},
	}
	n := 0
	for _, f := range fields {
		if len(f.numbers) > 0 || f.text != "" {
			n++
		}
	}
	le := binary.LittleEndian
	start := len(t.out)
	t.out = le.AppendUint16(t.out, uint16(n))
	rest := make([]byte, 0, 64)
	behind := start + 2 + 12*n + 4
	for _, f := range fields {
		data, count := f.bytes()
		if count == 0 {
			continue
		}
		t.out = le.AppendUint16(le.AppendUint16(t.out, f.tag), f.kind)
		t.out = le.AppendUint32(t.out, uint32(count))
		if len(data) > 4 {
			t.out = le.AppendUint32(t.out, uint32(behind+len(rest)))
			rest = append(rest, data...)
			if len(rest)%2 != 0 {
				rest = append(rest, 0)
			}
			continue
		}
		t.out = append(t.out, append(data, 0, 0, 0, 0)[:4]...)
	}
	link = len(t.out)
	t.out = append(append(t.out, 0, 0, 0, 0), rest...)
	return link
}

// extraSamples returns the meanings of samples in addition to grey or colour.
func (t *tiffWriter) extraSamples() []int {
	base := map[int]int{blackIsZero: 1, colourRGB: 3, separated: 4}[t.photometric]
	return repeated(otherAlpha, t.shape[2]-base)
}

// note returns the shape of the array, for the first page of anything but a single image.
func (t *tiffWriter) note(page int) string {
	if page > 0 || t.pages == 1 && len(t.a.Shape) == 2 || t.pages == 1 && len(t.a.Shape) == 3 && t.shape[2] > 1 {
		return ""
	}
	shape, _ := json.Marshal(t.a.Shape)
	return `{"shape": ` + string(shape) + `}`
}

type tiffOut struct {
	tag, kind uint16
	numbers   []int
	text      string
}

func (f tiffOut) bytes() (data []byte, count int) {
	if f.text != "" {
		return append([]byte(f.text), 0), len(f.text) + 1
	}
	for _, n := range f.numbers {
		if f.kind == 3 {
			data = binary.LittleEndian.AppendUint16(data, uint16(n))
		} else {
			data = binary.LittleEndian.AppendUint32(data, uint32(n))
		}
	}
	return data, len(f.numbers)
}

func repeated(v, n int) []int {
	all := make([]int, max(n, 0))
	for i := range all {
		all[i] = v
	}
	return all
}
