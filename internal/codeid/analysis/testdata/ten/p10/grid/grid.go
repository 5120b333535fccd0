// Package grid has grids of anything.
package grid

import (
	"fmt"
	"iter"
	"strings"
)

// A Grid is rows of cells.
type Grid[T any] struct {
	W, H  int
	Cells []T
}

// Of makes a grid.
func Of[T any](w, h int) *Grid[T] { return &Grid[T]{w, h, make([]T, w*h)} }

// At is a cell; the grid is a torus.
func (g *Grid[T]) At(x, y int) T {
	return g.Cells[((y%g.H)+g.H)%g.H*g.W+((x%g.W)+g.W)%g.W]
}

// Set sets a cell.
func (g *Grid[T]) Set(x, y int, v T) { g.Cells[y*g.W+x] = v }

// A Pos is a place.
type Pos struct{ X, Y int }

var directions = [...]Pos{{-1, -1}, {0, -1}, {1, -1}, {-1, 0}, {1, 0}, {-1, 1}, {0, 1}, {1, 1}}

// Neighbours yields the eight around.
func (g *Grid[T]) Neighbours(x, y int) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, d := range directions {
			if !yield(g.At(x+d.X, y+d.Y)) {
				return
			}
		}
	}
}

// All yields all cells.
func (g *Grid[T]) All() iter.Seq2[Pos, T] {
	return func(yield func(Pos, T) bool) {
		for i, v := range g.Cells {
			if !yield(Pos{i % g.W, i / g.W}, v) {
				return
			}
		}
	}
}

// Convert makes another grid.
func Convert[A, B any](g *Grid[A], f func(A) B) *Grid[B] {
	out := Of[B](g.W, g.H)
	for p, v := range g.All() {
		out.Set(p.X, p.Y, f(v))
	}
	return out
}

// Count counts.
func Count[T any](seq iter.Seq[T], pred func(T) bool) (n int) {
	for v := range seq {
		if pred(v) {
			n++
		}
	}
	return n
}

// Text draws.
func Text[T comparable](g *Grid[T], symbols map[T]rune) string {
	var b strings.Builder
	for p, v := range g.All() {
		if p.X == 0 && p.Y > 0 {
			b.WriteByte('\n')
		}
		r, ok := symbols[v]
		if !ok {
			r = '?'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Parse reads what Text draws.
func Parse[T any](s string, symbol func(rune) (T, bool)) (*Grid[T], error) {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	g := Of[T](len([]rune(lines[0])), len(lines))
	for y, l := range lines {
		x := 0
		for _, r := range l {
			v, ok := symbol(r)
			if !ok || x >= g.W {
				return nil, fmt.Errorf("grid: line %d: bad %q", y+1, r)
			}
			g.Set(x, y, v)
			x++
		}
	}
	return g, nil
}
