// Package resample provides scaling of pixels with 8 bits per channel in integer
// arithmetic. Each pixel is a weighted sum of others, rounded to the nearest level.
//
// On processors with vector instructions, loops in assembly compute the same numbers as
// those in Go, which are the reference.
package resample

import (
	"image"
	"sync"

	"golang.org/x/image/draw"
)

// Pixels are stored in rows that are Stride bytes apart. Neither side is 0.
type Pixels struct {
	Pix    []byte
	Stride int
	Size   image.Point
}

// A Kind says what the bytes of a pixel are.
type Kind int

const (
	// Grey has one byte.
	Grey Kind = iota
	// Colour has red, green, blue, and a byte that becomes 255.
	Colour
	// Alpha has red, green, blue and alpha; colours count by their alpha.
	Alpha
)

// Scale scales from to the size of to, as [draw.Kernel.Scale] does.
//
// It first blends rows of from into each row of the result, in memory order, and then
// blends along that row. When an image shrinks, the first step takes most of the time.
func Scale(to, from Pixels, kind Kind, k *draw.Kernel) {
	s := []scaling{
		Grey:   {1, 4, downGrey, alongGrey},
		Colour: {4, 3, downColours, alongColours},
		Alpha:  {4, 8, downAlpha, alongAlpha},
	}[kind]
	r := buffers.Get().(*buffer)
	defer buffers.Put(r)
	n := from.Size.X * s.bytes
	columns := columnsOf(r.across.weigh(k, to.Size.X, from.Size.X), kind, &r.twice)
	row, sums := sized(&r.row, n+columns.most*s.bytes)[:n], sized(&r.sums, (n+7)/8*s.sums)
	for y, t := range r.down.weigh(k, to.Size.Y, from.Size.Y) {
		s.down(row, sums, rows{from.Pix[t.first*from.Stride:], from.Stride, n, t.weights})
		s.along(to.Pix[y*to.Stride:][:to.Size.X*s.bytes], row, columns)
	}
}

// A buffer holds scratch memory, which is reused. All of it is written before it is read,
// except for values with weight 0.
type buffer struct {
	across, down weights
	row          []int32
	sums, twice  []int64
}

var buffers = sync.Pool{New: func() any { return new(buffer) }}

// sized returns n elements with arbitrary content.
func sized[T any](have *[]T, n int) []T {
	if cap(*have) < n {
		*have = make([]T, n)
	}
	return (*have)[:n]
}

// A scaling has the functions for a kind of pixel.
type scaling struct {
	bytes int // per pixel
	sums  int // per eight bytes of a row
	// down blends rows into a row of integers, with sums as scratch memory; along
	// blends that row into pixels.
	down  func(row []int32, sums []int64, rows rows)
	along func(to []byte, row []int32, c columns)
}
