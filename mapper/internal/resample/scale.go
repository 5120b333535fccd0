// Package resample scales pixels of 8 bits a channel, in whole numbers: each pixel is
// blended of others by weights, and rounded to the nearest level.
//
// Where the processor has instructions for vectors, loops in assembly give the same
// numbers as those in Go, which say what the numbers are.
package resample

import (
	"image"
	"sync"

	"golang.org/x/image/draw"
)

// Pixels lie in rows, from one of which to the next it is Stride bytes. None of the
// sides is 0.
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

// Scale makes pixels of the size of to of all of from, as [draw.Kernel.Scale] does.
//
// Each row of the result is first blended of rows of from, which lie in memory as
// they are read, and then along itself: when an image is made smaller, by far the most
// is done by the first step.
func Scale(to, from Pixels, kind Kind, k *draw.Kernel) {
	s := []scaling{
		Grey:   {1, 4, downGrey, alongGrey},
		Colour: {4, 3, downColours, alongColours},
		Alpha:  {4, 8, downAlpha, alongAlpha},
	}[kind]
	r := rooms.Get().(*room)
	defer rooms.Put(r)
	n := from.Size.X * s.bytes
	columns := columnsOf(r.across.weigh(k, to.Size.X, from.Size.X), kind, &r.twice)
	row, sums := sized(&r.row, n+columns.most*s.bytes)[:n], sized(&r.sums, (n+7)/8*s.sums)
	for y, t := range r.down.weigh(k, to.Size.Y, from.Size.Y) {
		s.down(row, sums, rows{from.Pix[t.first*from.Stride:], from.Stride, n, t.weights})
		s.along(to.Pix[y*to.Stride:][:to.Size.X*s.bytes], row, columns)
	}
}

// A room is what is needed meanwhile. It is used again: all of it is written before it is
// read, but what weighs nothing.
type room struct {
	across, down weights
	row          []int32
	sums, twice  []int64
}

var rooms = sync.Pool{New: func() any { return new(room) }}

// sized returns n elements, which may be anything.
func sized[T any](have *[]T, n int) []T {
	if cap(*have) < n {
		*have = make([]T, n)
	}
	return (*have)[:n]
}

// A scaling is of pixels of some bytes each.
type scaling struct {
	bytes int // a pixel
	sums  int // for each eight bytes of a row
	// down blends rows into one of numbers, for which it may use sums, and along that
	// into pixels.
	down  func(row []int32, sums []int64, rows rows)
	along func(to []byte, row []int32, c columns)
}
