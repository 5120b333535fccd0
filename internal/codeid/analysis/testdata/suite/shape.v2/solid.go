package shape

import (
	"fmt"

	"suite/flat"
)

// A Square is as high as wide.
type Square struct{ side float64 }

// Area is the side squared.
func (s Square) Area() float64 { return s.side * s.side }

// Edge is the whole way round.
func (s Square) Edge() float64 { return 4 * s.side }

// Corners yields the corners.
func (s Square) Corners(yield func(float64) bool) {
	for i := range 4 {
		if !yield(float64(i) * s.side) {
			return
		}
	}
}

// A Circle is round.
type Circle struct{ radius float64 }

// Area takes three for pi.
func (c *Circle) Area() float64 { return 3 * c.radius * c.radius }

// Grow makes it larger.
func (c *Circle) Grow() { c.radius += 2 }

// Shrink makes it smaller.
func (c *Circle) Shrink() { c.radius -= 0.5 }

// A Box has the area of the square it stands on, by promotion.
type Box struct {
	Square
	height float64
}

// A tag is a name with a mark.
type tag string

// String is called by fmt.
func (t tag) String() string { return "<" + string(t) + ">" }

func label(name string) tag { return tag(name) }

type inner struct{ name string }

func (i inner) String() string { return fmt.Sprintf("inner %s", i.name) }

// A chest has its String from inner.
type chest struct{ inner }

func crate(name string) any { return chest{inner{name}} }

type byLength []string

func (b byLength) Len() int           { return len(b) }
func (b byLength) Less(i, j int) bool { return len(b[i]) < len(b[j]) }
func (b byLength) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }

type step = flat.Step
