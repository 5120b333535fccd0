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
		i := 0
		for ; i+8 <= n; i += 8 {
			v := binary.LittleEndian.Uint64(this[i:])
			binary.LittleEndian.PutUint64(out[i:], v)
			sum += magnitude8(v)
		}
		for ; i < n; i++ {
			out[i] = this[i]
			sum += magnitude(this[i])
		}
		this, out = this[n:], out[n:]
	}
	return sum
}

func filterUp(out, this, above []byte, _, most int) (sum int) {
	for len(this) > 0 && sum <= most {
		n := min(filterStride, len(this))
		up, to := above[:n], out[:n]
		i := 0
		for ; i+8 <= n; i += 8 {
			d := minus8(binary.LittleEndian.Uint64(this[i:]), binary.LittleEndian.Uint64(up[i:]))
			binary.LittleEndian.PutUint64(to[i:], d)
			sum += magnitude8(d)
		}
		for ; i < n; i++ {
			d := this[i] - up[i]
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
		left, up, here, to := this[at-pixel:][:n], above[at:][:n], this[at:][:n], out[at:][:n]
		i := 0
		for ; i+8 <= n; i += 8 {
			mean := mean8(binary.LittleEndian.Uint64(left[i:]), binary.LittleEndian.Uint64(up[i:]))
			d := minus8(binary.LittleEndian.Uint64(here[i:]), mean)
			binary.LittleEndian.PutUint64(to[i:], d)
			sum += magnitude8(d)
		}
		for ; i < n; i++ {
			d := here[i] - byte((int(left[i])+int(up[i]))/2)
			to[i] = d
			sum += magnitude(d)
		}
		at += n
	}
	return sum
}

// filterPaeth subtracts the neighbour that is nearest to left + up - corner.
func filterPaeth(out, this, above []byte, pixel, most int) (sum int) {
	for i, v := range this[:pixel] {
		out[i] = v - above[i]
		sum += magnitude(out[i])
	}
	for at := pixel; at < len(this) && sum <= most; {
		n := min(filterStride, len(this)-at)
		left, up, corner, to := this[at-pixel:][:n], above[at:][:n], above[at-pixel:][:n], out[at:][:n]
		for i, v := range this[at:][:n] {
			l, u, c := int(left[i]), int(up[i]), int(corner[i])
			near, d := l, abs(u-c)
			if du := abs(l - c); du < d {
				near, d = u, du
			}
			if abs(l+u-2*c) < d {
				near = c
			}
			diff := v - byte(near)
			to[i] = diff
			sum += magnitude(diff)
		}
		at += n
	}
	return sum
}

// Eight bytes in a word.
const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// minus8 subtracts eight bytes from eight others, without borrowing between them.
func minus8(a, b uint64) uint64 { return (a | highBits - b&^highBits) ^ (a^^b)&highBits }

// mean8 returns the means of eight pairs of bytes, rounded down.
func mean8(a, b uint64) uint64 { return a&b + (a^b)&^lowBits>>1 }

// magnitude8 returns the sum of the magnitudes of eight bytes.
func magnitude8(d uint64) int {
	const even, ones = 0x00ff00ff00ff00ff, 0x0001000100010001
	negative := d >> 7 & lowBits
	d = d ^ negative*0xff + negative
	return int((d&even + d>>8&even) * ones >> 48)
}

// magnitude returns the absolute value of a difference of bytes.
func magnitude(d byte) int { return abs(int(int8(d))) }

func abs(v int) int { return max(v, -v) }
