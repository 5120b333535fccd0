package codec

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"io"
	"sync"

	"github.com/larder-data/larder/array"
)

const pngStart = "\x89PNG\r\n\x1a\n"

// pngColours are the types of colour of PNG by the number of channels.
var pngColours = [...]byte{1: 0, 2: 4, 3: 2, 4: 6}

// writePNG writes the channels of an image (see array.FromImage), by the
// specification: https://www.w3.org/TR/png-3.
func writePNG(w io.Writer, img image.Image, channels int) error {
	a, err := array.FromImage(img, channels)
	if err != nil {
		return err
	}
	pixel, row := pixelBytes(a)
	data, err := deflated(func(z io.Writer) error { return writeRows(z, a, pixel, row) })
	if err != nil {
		return err
	}
	head := binary.BigEndian.AppendUint32(nil, uint32(a.Shape[1]))
	head = binary.BigEndian.AppendUint32(head, uint32(a.Shape[0]))
	head = append(head, byte(8*a.DType.Size()), pngColours[pixel/a.DType.Size()], 0, 0, 0)
	out := appendChunk([]byte(pngStart), "IHDR", head)
	out = appendChunk(out, "IDAT", data)
	_, err = w.Write(appendChunk(out, "IEND", nil))
	return err
}

// pixelBytes returns the bytes of a pixel and of a row of an image.
func pixelBytes(a *array.Array) (pixel, row int) {
	pixel = a.DType.Size()
	if len(a.Shape) > 2 {
		pixel *= a.Shape[2]
	}
	return pixel, pixel * a.Shape[1]
}

func appendChunk(dst []byte, kind string, data []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(data)))
	from := len(dst)
	dst = append(append(dst, kind...), data...)
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[from:]))
}

var deflaters = sync.Pool{New: func() any { return zlib.NewWriter(io.Discard) }}

// deflated returns what write writes, compressed.
func deflated(write func(io.Writer) error) ([]byte, error) {
	var buf bytes.Buffer
	z := deflaters.Get().(*zlib.Writer)
	defer deflaters.Put(z)
	z.Reset(&buf)
	if err := write(z); err != nil {
		return nil, err
	}
	err := z.Close()
	return buf.Bytes(), err
}

// writeRows writes rows with a filter each: that of the least sum of absolute
// differences, as the specification advises.
func writeRows(w io.Writer, a *array.Array, pixel, row int) error {
	var lines [5][]byte
	for f := range lines {
		lines[f] = make([]byte, 1+row)
		lines[f][0] = byte(f)
	}
	this, above := make([]byte, row), make([]byte, row)
	for data := a.Data; len(data) > 0; data = data[row:] {
		copy(this, data)
		if a.DType.Size() == 2 {
			array.SwapBytes(this, 2)
		}
		if _, err := w.Write(bestFilter(&lines, this, above, pixel)); err != nil {
			return err
		}
		this, above = above, this
	}
	return nil
}

func bestFilter(lines *[5][]byte, this, above []byte, pixel int) []byte {
	var sums [5]int
	n := len(this)
	above = above[:n]
	none, sub, up, mean, both := lines[0][1:n+1], lines[1][1:n+1], lines[2][1:n+1], lines[3][1:n+1], lines[4][1:n+1]
	for i, v := range this {
		var l, c byte
		if i >= pixel {
			l, c = this[i-pixel], above[i-pixel]
		}
		u := above[i]
		none[i], sub[i], up[i] = v, v-l, v-u
		mean[i], both[i] = v-byte((int(l)+int(u))/2), v-paeth(l, u, c)
		sums[0] += abs(int(int8(none[i])))
		sums[1] += abs(int(int8(sub[i])))
		sums[2] += abs(int(int8(up[i])))
		sums[3] += abs(int(int8(mean[i])))
		sums[4] += abs(int(int8(both[i])))
	}
	best := 0
	for f, sum := range sums {
		if sum < sums[best] {
			best = f
		}
	}
	return lines[best]
}

// paeth returns the neighbour that is nearest to left + up - corner.
func paeth(left, up, corner byte) byte {
	l, u, c := int(left), int(up), int(corner)
	dl, du, dc := abs(u-c), abs(l-c), abs(l+u-2*c)
	switch {
	case dl <= du && dl <= dc:
		return left
	case du <= dc:
		return up
	}
	return corner
}

func abs(v int) int { return max(v, -v) }
