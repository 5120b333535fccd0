package mapper

import (
	"encoding/binary"
	"image"
	"math"

	"golang.org/x/image/draw"
)

// Bits behind the point of numbers in [resampled]: of weights along rows and along
// columns, and of what lies between. They are as many as fit: sums of lanczos are
// up to one and a half times what 8 bits hold, in 32 bits and in 16.
const (
	rowBits     = 21
	columnBits  = 30
	betweenBits = 6
)

// resampled scales an image of 8 bits a channel without alpha: first its rows, then
// the columns of what comes out. It does what draw.Kernel.Scale does, with whole
// numbers, which takes a fourth of the time, and rounds to the nearest level. ok is
// false for other images.
func resampled(img image.Image, w, h int, k *draw.Kernel) (out image.Image, ok bool) {
	line, channels := lines(img)
	if line == nil {
		return nil, false
	}
	size := img.Bounds().Size()
	columns, rows := weigh(k, w, size.X, rowBits), weigh(k, h, size.Y, columnBits)
	between := make([]int16, size.Y*w*channels)
	for y := range size.Y {
		to := between[y*w*channels:][:w*channels]
		if channels == 1 {
			blendGray(to, line(y), columns)
		} else {
			blendColours(to, line(y), columns)
		}
	}
	bounds := image.Rect(0, 0, w, h)
	if channels == 1 {
		gray := image.NewGray(bounds)
		for y, t := range rows {
			blendRows(gray.Pix[y*gray.Stride:], between, w, t)
		}
		return gray, true
	}
	rgba := image.NewRGBA(bounds)
	row := make([]byte, 3*w)
	for y, t := range rows {
		blendRows(row, between, 3*w, t)
		withAlpha(rgba.Pix[y*rgba.Stride:][:4*w], row)
	}
	return rgba, true
}

// lines returns what gives the rows of an image, grey or as bytes of RGBA, or nil
// if it has other pixels. A row is good until the next.
func lines(img image.Image) (line func(y int) []byte, channels int) {
	switch m := img.(type) {
	case *image.Gray:
		return func(y int) []byte { return m.Pix[y*m.Stride:][:m.Rect.Dx()] }, 1
	case *image.RGBA:
		return func(y int) []byte { return m.Pix[y*m.Stride:][:4*m.Rect.Dx()] }, 3
	case *image.Paletted:
		return colourLines(m)
	}
	return nil, 0
}

func colourLines(m *image.Paletted) (line func(y int) []byte, channels int) {
	var colours [256]uint32
	for i, c := range m.Palette {
		r, g, b, a := c.RGBA()
		if a != 0xffff {
			return nil, 0
		}
		colours[i&255] = r>>8 | g>>8<<8 | b>>8<<16
	}
	row := make([]byte, 4*m.Rect.Dx())
	return func(y int) []byte {
		for x, i := range m.Pix[y*m.Stride:][:m.Rect.Dx()] {
			binary.LittleEndian.PutUint32(row[4*x:], colours[i])
		}
		return row
	}, 3
}

// taps are the pixels that one is blended of: some in a row from the first on, each
// with its weight.
type taps struct {
	first   int
	weights []int64
}

// weigh returns what each of n pixels is blended of, where there were size, as
// draw.Kernel has it. The weights of each have the sum 1<<bits.
func weigh(k *draw.Kernel, n, size int, bits uint) []taps {
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
		all[i] = whole(from, exact, sum, bits)
	}
	return all
}

// whole makes weights whole numbers. What rounding one leaves goes to the next, so
// that of many none is lost.
func whole(from int, exact []float64, sum float64, bits uint) taps {
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
		until := int64(math.Round(upTo / sum * float64(int64(1)<<bits)))
		t.weights[i] = until - done
		done = until
	}
	return t
}

func blendGray(to []int16, row []byte, columns []taps) {
	for x := range to {
		t := &columns[x]
		sum := int64(1) << (rowBits - betweenBits - 1)
		for i, v := range row[t.first:][:len(t.weights)] {
			sum += t.weights[i] * int64(v)
		}
		to[x] = int16(sum >> (rowBits - betweenBits))
	}
}

// blendColours blends red and blue by one multiplication: red in the low half of a
// number, blue in the high half. What red is below 0 is taken from blue, and given
// back in the end.
func blendColours(to []int16, row []byte, columns []taps) {
	const half, shift = 1 << (rowBits - betweenBits - 1), rowBits - betweenBits
	for x := range columns {
		t := &columns[x]
		var both, green int64
		pixels, weights := row[4*t.first:][:4*len(t.weights)], t.weights
		for len(pixels) >= 8 && len(weights) >= 2 { // two at once, which takes an eighth less time
			p := binary.LittleEndian.Uint64(pixels)
			a, b := weights[0], weights[1]
			both += a*int64(p&0xff|p&0xff0000<<16) + b*int64(p>>32&0xff|p>>32&0xff0000<<16)
			green += a*int64(p>>8&0xff) + b*int64(p>>40&0xff)
			pixels, weights = pixels[8:], weights[2:]
		}
		for i, weight := range weights {
			p := binary.LittleEndian.Uint32(pixels[4*i:])
			both += weight * int64(uint64(p&0xff)|uint64(p&0xff0000)<<16)
			green += weight * int64(p>>8&0xff)
		}
		red := int64(int32(both))
		blue := (both - red) >> 32
		out := to[3*x:][:3]
		out[0], out[1], out[2] = int16((red+half)>>shift), int16((green+half)>>shift), int16((blue+half)>>shift)
	}
}

// blendRows blends rows of n numbers into one of pixels.
func blendRows(to []byte, between []int16, n int, t taps) {
	const half, shift = 1 << (columnBits + betweenBits - 1), columnBits + betweenBits
	rows := between[t.first*n:][:len(t.weights)*n]
	x := 0
	for ; x+4 <= n; x += 4 {
		a, b, c, d := int64(half), int64(half), int64(half), int64(half)
		at := x
		for _, weight := range t.weights {
			v := rows[at : at+4 : at+4]
			a += weight * int64(v[0])
			b += weight * int64(v[1])
			c += weight * int64(v[2])
			d += weight * int64(v[3])
			at += n
		}
		out := to[x:][:4]
		out[0], out[1], out[2], out[3] = level(a>>shift), level(b>>shift), level(c>>shift), level(d>>shift)
	}
	for ; x < n; x++ {
		sum := int64(half)
		for i, weight := range t.weights {
			sum += weight * int64(rows[i*n+x])
		}
		to[x] = level(sum >> shift)
	}
}

func level(v int64) byte { return byte(min(255, max(0, v))) }

// withAlpha gives pixels of three bytes a fourth.
func withAlpha(to, row []byte) {
	for len(row) >= 3 && len(to) >= 4 {
		to[0], to[1], to[2], to[3] = row[0], row[1], row[2], 255
		to, row = to[4:], row[3:]
	}
}
