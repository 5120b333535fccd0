package codec

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"io"
	"math"
	"sync"

	"github.com/klauspost/compress/zlib"

	"github.com/larder-data/larder/array"
)

const pngStart = "\x89PNG\r\n\x1a\n"

// pngColours are the PNG colour types by the number of channels.
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

// deflaters compress fast: for photographs, the default level takes half as long again and
// saves a twentieth.
var deflaters = sync.Pool{New: func() any {
	z, err := zlib.NewWriterLevel(io.Discard, zlib.BestSpeed)
	if err != nil {
		panic(err) // the level is valid
	}
	return z
}}

// deflated returns the compressed output of write.
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

// writeRows writes each row with the filter of the least sum of absolute differences, as
// the specification advises.
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

// bestFilter returns the filtered row with the least sum of absolute differences; the first
// of equal ones.
func bestFilter(lines *[5][]byte, this, above []byte, pixel int) []byte {
	best, least := 0, math.MaxInt
	for _, f := range [...]int{2, 4, 0, 1, 3} { // mostly best first, because the others then stop early
		if sum := filters[f](lines[f][1:], this, above, pixel, least); sum < least || sum == least && f < best {
			best, least = f, sum
		}
	}
	return lines[best]
}

// filters fill out, which is as long as this and above. They return the sum of absolute
// differences, or any sum above most once it is exceeded.
var filters = [5]func(out, this, above []byte, pixel, most int) int{filterNone, filterSub, filterUp, filterMean, filterPaeth}

// filterStride is how many bytes are filtered between checks of the sum.
const filterStride = 256

func filterNone(out, this, _ []byte, _, most int) (sum int) {
	for len(this) > 0 && sum <= most {
		n := min(filterStride, len(this))
		for i, v := range this[:n] {
			out[i] = v
			sum += magnitude(v)
		}
		this, out = this[n:], out[n:]
	}
	return sum
}

func filterUp(out, this, above []byte, _, most int) (sum int) {
	for len(this) > 0 && sum <= most {
		n := min(filterStride, len(this))
		up, to := above[:n], out[:n]
		for i, v := range this[:n] {
			d := v - up[i]
			to[i] = d
			sum += magnitude(d)
		}
		this, above, out = this[n:], above[n:], out[n:]
	}
	return sum
}

func filterSub(out, this, above []byte, pixel, most int) (sum int) {
	for i, v := range this[:pixel] {
		out[i] = v
		sum += magnitude(v)
	}
	return sum + filterUp(out[pixel:], this[pixel:], this[:len(this)-pixel], pixel, most-sum)
}

func filterMean(out, this, above []byte, pixel, most int) (sum int) {
	for i, v := range this[:pixel] {
		out[i] = v - above[i]/2
		sum += magnitude(out[i])
	}
	for at := pixel; at < len(this) && sum <= most; {
		n := min(filterStride, len(this)-at)
		left, up, to := this[at-pixel:][:n], above[at:][:n], out[at:][:n]
		for i, v := range this[at:][:n] {
			d := v - byte((int(left[i])+int(up[i]))/2)
			to[i] = d
			sum += magnitude(d)
		}
		at += n
	}
	return sum
}

func filterPaeth(out, this, above []byte, pixel, most int) (sum int) {
	for i, v := range this[:pixel] {
		out[i] = v - above[i]
		sum += magnitude(out[i])
	}
	for at := pixel; at < len(this) && sum <= most; {
		n := min(filterStride, len(this)-at)
		left, up, corner, to := this[at-pixel:][:n], above[at:][:n], above[at-pixel:][:n], out[at:][:n]
		for i, v := range this[at:][:n] {
			d := v - paeth(left[i], up[i], corner[i])
			to[i] = d
			sum += magnitude(d)
		}
		at += n
	}
	return sum
}

// magnitude returns the absolute value of a difference of bytes.
func magnitude(d byte) int { return abs(int(int8(d))) }

// paeth returns the neighbour that is nearest to left + up - corner.
func paeth(left, up, corner byte) byte {
	l, u, c := int(left), int(up), int(corner)
	pl, pu := u-c, l-c
	dl, du, dc := abs(pl), abs(pu), abs(pl+pu)
	near, d := left, dl
	if du < d {
		near, d = up, du
	}
	if dc < d {
		near = corner
	}
	return near
}

func abs(v int) int { return max(v, -v) }
