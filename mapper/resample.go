package mapper

import (
	"encoding/binary"
	"image"
	"image/color"
	"math"

	"golang.org/x/image/draw"

	"github.com/larder-data/larder/array"
)

// weightBits are the bits behind the point of weights in [resampled]. They are as many
// as fit: sums of lanczos are up to one and a half times what 8 bits hold, in 32 bits.
const weightBits = 21

// resampled scales an image of 8 bits a channel. It does what draw.Kernel.Scale does,
// with whole numbers, and rounds to the nearest level: colours count by their alpha.
// ok is false for other images.
//
// Each row of the result is first blended of rows of the image, which lie in memory as
// they are read, and then along itself: when an image is made smaller, by far the most
// is done by the first step.
func resampled(img image.Image, w, h int, k *draw.Kernel) (out image.Image, ok bool) {
	bounds := image.Rect(0, 0, w, h)
	switch m := img.(type) {
	case *image.Gray:
		gray := image.NewGray(bounds)
		s := scaling{m.Pix, m.Stride, m.Rect.Size(), 1, 4, downGray, alongGray}
		s.scale(gray.Pix, gray.Stride, bounds.Max, k)
		return gray, true
	case *image.RGBA:
		rgba := image.NewRGBA(bounds)
		s := scaling{m.Pix, m.Stride, m.Rect.Size(), 4, 3, downColours, alongColours}
		s.scale(rgba.Pix, rgba.Stride, bounds.Max, k)
		return rgba, true
	case *image.NRGBA:
		nrgba := image.NewNRGBA(bounds)
		s := scaling{m.Pix, m.Stride, m.Rect.Size(), 4, 8, downAlpha, alongAlpha}
		if m.Opaque() {
			s.sums, s.down, s.along = 3, downColours, alongColours
		}
		s.scale(nrgba.Pix, nrgba.Stride, bounds.Max, k)
		return nrgba, true
	case *image.Paletted:
		return resampled(looked(m), w, h, k)
	case *array.GrayAlpha:
		scaled, _ := resampled(coloured(m), w, h, k)
		return uncoloured(scaled.(*image.NRGBA)), true
	}
	return nil, false
}

// coloured returns grey with alpha as colours.
func coloured(m *array.GrayAlpha) *image.NRGBA {
	out := image.NewNRGBA(image.Rectangle{Max: m.Rect.Size()})
	for y := range out.Rect.Max.Y {
		from, to := m.Pix[y*m.Stride:], out.Pix[y*out.Stride:]
		for x := range out.Rect.Max.X {
			g := from[2*x]
			to[4*x], to[4*x+1], to[4*x+2], to[4*x+3] = g, g, g, from[2*x+1]
		}
	}
	return out
}

// uncoloured returns colours that are grey as such.
func uncoloured(m *image.NRGBA) *array.GrayAlpha {
	out := array.NewGrayAlpha(m.Rect)
	for i := 0; i < len(m.Pix); i += 4 {
		out.Pix[i/2], out.Pix[i/2+1] = m.Pix[i], m.Pix[i+3]
	}
	return out
}

// looked returns the colours of an image with a palette.
func looked(m *image.Paletted) image.Image {
	var colours [256]uint32
	all := true
	for i, c := range m.Palette {
		c := color.NRGBAModel.Convert(c).(color.NRGBA)
		all = all && c.A == 255
		colours[i&255] = uint32(c.R) | uint32(c.G)<<8 | uint32(c.B)<<16 | uint32(c.A)<<24
	}
	out := image.NewNRGBA(image.Rectangle{Max: m.Rect.Size()})
	for y := range out.Rect.Max.Y {
		row := out.Pix[y*out.Stride:]
		for x, i := range m.Pix[y*m.Stride:][:out.Rect.Max.X] {
			binary.LittleEndian.PutUint32(row[4*x:], colours[i])
		}
	}
	if all {
		return opaque(out)
	}
	return out
}

// taps are the pixels that one is blended of: some in a row from the first on, each
// with its weight.
type taps struct {
	first   int
	weights []int64
}

// weigh returns what each of n pixels is blended of, where there were size, as
// draw.Kernel has it. The weights of each have the sum 1<<weightBits.
func weigh(k *draw.Kernel, n, size int) []taps {
	all := make([]taps, n)
	scale := float64(size) / float64(n)
	wide := max(scale, 1) // what is made smaller takes in all pixels
	var exact []float64
	for i := range all {
		center := (float64(i)+0.5)*scale - 0.5
		from := max(0, int(math.Floor(center-k.Support*wide)))
		to := min(size, int(math.Ceil(center+k.Support*wide))+1)
		exact = exact[:0]
		sum := 0.0
		for j := from; j < to; j++ {
			weight := 0.0
			if t := math.Abs(center-float64(j)) / wide; t < k.Support {
				weight = k.At(t)
			}
			exact = append(exact, weight)
			sum += weight
		}
		all[i] = whole(from, exact, sum)
	}
	return all
}

// whole makes weights whole numbers. What rounding one leaves goes to the next, so
// that of many none is lost.
func whole(from int, exact []float64, sum float64) taps {
	for len(exact) > 1 && exact[0] == 0 {
		from, exact = from+1, exact[1:]
	}
	for len(exact) > 1 && exact[len(exact)-1] == 0 {
		exact = exact[:len(exact)-1]
	}
	t := taps{from, make([]int64, len(exact))}
	done, upTo := int64(0), 0.0
	for i, weight := range exact {
		upTo += weight
		until := int64(math.Round(upTo / sum * float64(int64(1)<<weightBits)))
		t.weights[i] = until - done
		done = until
	}
	return t
}

// A scaling is of pixels of an image, each of so many bytes, to another size.
type scaling struct {
	pix    []byte
	stride int
	size   image.Point
	bytes  int // a pixel
	sums   int // for each eight bytes of a row
	// down blends rows into one of numbers, which it adds up in sums, and along that
	// into pixels.
	down  func(row []int32, sums []int64, rows rows)
	along func(to []byte, row []int32, columns []taps)
}

func (s scaling) scale(to []byte, stride int, size image.Point, k *draw.Kernel) {
	columns, n := weigh(k, size.X, s.size.X), s.size.X*s.bytes
	row, sums := make([]int32, n), make([]int64, (n+7)/8*s.sums)
	for y, t := range weigh(k, size.Y, s.size.Y) {
		clear(sums)
		s.down(row, sums, rows{s.pix[t.first*s.stride:], s.stride, n, t.weights})
		s.along(to[y*stride:][:size.X*s.bytes], row, columns)
	}
}

// rows are some of an image, each of n bytes, with their weights.
type rows struct {
	pix       []byte
	stride, n int
	weights   []int64
}

// two calls add for each two rows and their weights; where one is left, the other has
// none.
func (r rows) two(add func(p, q []byte, v, w int64)) {
	for i := 0; i < len(r.weights); i += 2 {
		p := r.pix[i*r.stride:][:r.n]
		if i+1 == len(r.weights) {
			add(p, p, r.weights[i], 0)
			break
		}
		add(p, r.pix[(i+1)*r.stride:][:r.n], r.weights[i], r.weights[i+1])
	}
}

// each blends the bytes from one on by themselves: those at the end of rows, which are
// too few to be added together.
func (r rows) each(row []int32, from int) {
	for x := from; x < r.n; x++ {
		sum := int64(0)
		for i, weight := range r.weights {
			sum += weight * int64(r.pix[i*r.stride+x])
		}
		row[x] = int32(sum)
	}
}

// pairs are the low bytes of the two halves of a number: two bytes are blended by one
// multiplication.
const pairs = 0x000000ff_000000ff

func downGray(row []int32, sums []int64, rows rows) {
	whole := rows.n &^ 7
	rows.two(func(p, q []byte, v, w int64) { addFour(sums, p, q, v, w) })
	for x := 0; x < whole; x += 8 {
		apart(row[x:][:8], sums[x/2:][:4])
	}
	rows.each(row, whole)
}

// downColours leaves out the fourth byte of each pixel.
func downColours(row []int32, sums []int64, rows rows) {
	whole := rows.n &^ 7
	rows.two(func(p, q []byte, v, w int64) { addThree(sums, p, q, v, w) })
	for x := 0; x < whole; x += 8 {
		apart(row[x:][:8], sums[x/8*3:][:3])
	}
	rows.each(row, whole)
}

// apart writes what was blended in both halves of numbers. What the lower one is below
// 0 was taken from the upper one.
func apart(row []int32, sums []int64) {
	for i, both := range sums {
		low := int32(both)
		row[i], row[i+4] = low, int32((both-int64(low))>>32)
	}
}

// addFour adds each eight bytes of two rows to four sums.
func addFour(sums []int64, p, q []byte, v, w int64) {
	q = q[:len(p)]
	for at, i := 0, 0; at < len(p)-7 && i < len(sums)-3; at, i = at+8, i+4 {
		x, y := eight(p, at), eight(q, at)
		sums[i] += v*int64(x&pairs) + w*int64(y&pairs)
		sums[i+1] += v*int64(x>>8&pairs) + w*int64(y>>8&pairs)
		sums[i+2] += v*int64(x>>16&pairs) + w*int64(y>>16&pairs)
		sums[i+3] += v*int64(x>>24&pairs) + w*int64(y>>24&pairs)
	}
}

// addThree adds each eight bytes of two rows to three sums, but the fourth and the last.
func addThree(sums []int64, p, q []byte, v, w int64) {
	q = q[:len(p)]
	for at, i := 0, 0; at < len(p)-7 && i < len(sums)-2; at, i = at+8, i+3 {
		x, y := eight(p, at), eight(q, at)
		sums[i] += v*int64(x&pairs) + w*int64(y&pairs)
		sums[i+1] += v*int64(x>>8&pairs) + w*int64(y>>8&pairs)
		sums[i+2] += v*int64(x>>16&pairs) + w*int64(y>>16&pairs)
	}
}

// eight returns bytes as encoding/binary does, and takes less time in loops than a part
// of a slice.
func eight(b []byte, at int) uint64 {
	return uint64(b[at]) | uint64(b[at+1])<<8 | uint64(b[at+2])<<16 | uint64(b[at+3])<<24 |
		uint64(b[at+4])<<32 | uint64(b[at+5])<<40 | uint64(b[at+6])<<48 | uint64(b[at+7])<<56
}

// alphaBits are those that products of colour and alpha lose to fit.
const alphaBits = 8

// downAlpha blends colours by their alpha.
func downAlpha(row []int32, sums []int64, rows rows) {
	rows.two(func(p, q []byte, v, w int64) { addAlpha(sums, p, q, v, w) })
	const half = 1 << (alphaBits - 1)
	for x := 0; x+4 <= rows.n; x += 4 {
		from, to := sums[x:][:4], row[x:][:4]
		to[0], to[1], to[2], to[3] = int32((from[0]+half)>>alphaBits), int32((from[1]+half)>>alphaBits), int32((from[2]+half)>>alphaBits), int32(from[3])
	}
}

func addAlpha(sums []int64, p, q []byte, v, w int64) {
	for at := 0; at+4 <= min(len(p), len(q)); at += 4 {
		x, y := binary.LittleEndian.Uint32(p[at:]), binary.LittleEndian.Uint32(q[at:])
		if (x|y)>>24 == 0 {
			continue // what is transparent counts for nothing
		}
		v, w, to := v*int64(x>>24), w*int64(y>>24), sums[at:][:4]
		to[0] += v*int64(x&0xff) + w*int64(y&0xff)
		to[1] += v*int64(x>>8&0xff) + w*int64(y>>8&0xff)
		to[2] += v*int64(x>>16&0xff) + w*int64(y>>16&0xff)
		to[3] += v + w
	}
}

// Of sums of both steps the bits behind the point, and a half.
const (
	sumBits = 2 * weightBits
	sumHalf = 1 << (sumBits - 1)
)

func alongGray(to []byte, row []int32, columns []taps) {
	for x := range to {
		t := &columns[x]
		sum := int64(sumHalf)
		for i, v := range row[t.first:][:len(t.weights)] {
			sum += t.weights[i] * int64(v)
		}
		to[x] = level(sum >> sumBits)
	}
}

func alongColours(to []byte, row []int32, columns []taps) {
	for x := range columns {
		t := &columns[x]
		r, g, b := int64(sumHalf), int64(sumHalf), int64(sumHalf)
		pixels := row[4*t.first:][:4*len(t.weights)]
		for _, weight := range t.weights {
			p := pixels[:4]
			r += weight * int64(p[0])
			g += weight * int64(p[1])
			b += weight * int64(p[2])
			pixels = pixels[4:]
		}
		out := to[4*x:][:4]
		out[0], out[1], out[2], out[3] = level(r>>sumBits), level(g>>sumBits), level(b>>sumBits), 255
	}
}

func alongAlpha(to []byte, row []int32, columns []taps) {
	for x := range columns {
		t := &columns[x]
		var r, g, b, a int64
		pixels := row[4*t.first:][:4*len(t.weights)]
		for _, weight := range t.weights {
			p := pixels[:4]
			r += weight * int64(p[0])
			g += weight * int64(p[1])
			b += weight * int64(p[2])
			a += weight * int64(p[3])
			pixels = pixels[4:]
		}
		out := to[4*x:][:4]
		if out[3] = level((a + sumHalf) >> sumBits); out[3] == 0 {
			continue // no colour
		}
		out[0], out[1], out[2] = level((r<<alphaBits+a/2)/a), level((g<<alphaBits+a/2)/a), level((b<<alphaBits+a/2)/a)
	}
}

func level(v int64) byte { return byte(min(255, max(0, v))) }
