// Package life is the game of life and its relatives.
package life

import (
	"fmt"
	"hash/fnv"
	"math/cmplx"
	"math/rand"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"programs/p10/grid"
)

// A World is a grid of the living.
type World = grid.Grid[bool]

// A Rule says who is born and who survives.
type Rule struct{ Born, Survive [9]bool }

var ruleRE = regexp.MustCompile(`^B([0-8]*)/S([0-8]*)$`)

// ParseRule reads "B3/S23".
func ParseRule(s string) (Rule, error) {
	m := ruleRE.FindStringSubmatch(strings.ToUpper(s))
	if m == nil {
		return Rule{}, fmt.Errorf("life: bad rule %q", s)
	}
	var r Rule
	for _, d := range m[1] {
		r.Born[d-'0'] = true
	}
	for _, d := range m[2] {
		r.Survive[d-'0'] = true
	}
	return r, nil
}

// MustRule is ParseRule for constants.
func MustRule(s string) Rule {
	r, err := ParseRule(s)
	if err != nil {
		panic(err)
	}
	return r
}

// Rules that are known.
var (
	Conway   = MustRule("B3/S23")
	HighLife = MustRule("B36/S23")
	byName   = map[string]*Rule{"conway": &Conway, "highlife": &HighLife}
)

// Named finds a rule.
func Named(s string) (Rule, error) {
	if r, ok := byName[s]; ok {
		return *r, nil
	}
	return ParseRule(s)
}

// String implements fmt.Stringer.
func (r Rule) String() string {
	var b strings.Builder
	digits := func(set [9]bool) {
		for i, ok := range set {
			if ok {
				fmt.Fprint(&b, i)
			}
		}
	}
	b.WriteByte('B')
	digits(r.Born)
	b.WriteString("/S")
	digits(r.Survive)
	return b.String()
}

func alive(v bool) bool { return v }

func (r Rule) next(w *World, x, y int) bool {
	n := grid.Count(w.Neighbours(x, y), alive)
	if w.At(x, y) {
		return r.Survive[n]
	}
	return r.Born[n]
}

// Step makes the next generation.
func (r Rule) Step(w *World) *World {
	out := grid.Of[bool](w.W, w.H)
	for p := range w.All() {
		out.Set(p.X, p.Y, r.next(w, p.X, p.Y))
	}
	return out
}

// Parallel is Step on several goroutines; it returns the number of births.
func (r Rule) Parallel(w *World, workers int) (*World, int) {
	out := grid.Of[bool](w.W, w.H)
	var births atomic.Int64
	var wg sync.WaitGroup
	jobs := make(chan int, w.H)
	for y := range w.H {
		jobs <- y
	}
	close(jobs)
	for range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for y := range jobs {
				for x := range w.W {
					v := r.next(w, x, y)
					if v && !w.At(x, y) {
						births.Add(1)
					}
					out.Set(x, y, v)
				}
			}
		}()
	}
	wg.Wait()
	return out, int(births.Load())
}

// Run makes n generations.
func Run(r Rule, w *World, n int) *World {
	for range n {
		w = r.Step(w)
	}
	return w
}

// Random fills a world.
func Random(seed int64, w, h int, density float64) *World {
	r := rand.New(rand.NewSource(seed))
	g := grid.Of[bool](w, h)
	for i := range g.Cells {
		g.Cells[i] = r.Float64() < density
	}
	return g
}

var symbols = map[bool]rune{false: '.', true: '#'}

// Text draws a world.
func Text(w *World) string { return grid.Text(w, symbols) }

// Parse reads one.
func Parse(s string) (*World, error) {
	return grid.Parse(s, func(r rune) (bool, bool) {
		for v, sym := range symbols {
			if r == sym {
				return v, true
			}
		}
		return false, false
	})
}

// Period finds after how many generations a world repeats itself.
func Period(r Rule, w *World, limit int) int {
	seen := map[uint64]int{}
	for i := range limit {
		h := fnv.New64a()
		fmt.Fprint(h, w.Cells)
		if at, ok := seen[h.Sum64()]; ok {
			return i - at
		}
		seen[h.Sum64()] = i
		w = r.Step(w)
	}
	return 0
}

// View is a part of the plane.
type View struct {
	Centre complex128
	Size   float64
	W, H   int
	Limit  int
}

// Mandelbrot counts iterations, on as many goroutines as there are processors.
func Mandelbrot(v View) *grid.Grid[int] {
	g := grid.Of[int](v.W, v.H)
	var wg sync.WaitGroup
	sem := make(chan struct{}, runtime.NumCPU())
	for y := range v.H {
		wg.Add(1)
		sem <- struct{}{}
		go func() {
			defer func() { <-sem; wg.Done() }()
			for x := range v.W {
				c := v.Centre + complex((float64(x)/float64(v.W)-0.5)*v.Size, (float64(y)/float64(v.H)-0.5)*v.Size)
				g.Set(x, y, escape(c, v.Limit))
			}
		}()
	}
	wg.Wait()
	return g
}

func escape(c complex128, limit int) int {
	z := 0i
	for i := range limit {
		if cmplx.Abs(z) > 2 {
			return i
		}
		z = z*z + c
	}
	return limit
}

// Shade draws counts.
func Shade(g *grid.Grid[int], limit int) string {
	const shades = " .:-=+*#%@"
	m := map[int]rune{}
	for i := range len(shades) {
		m[i] = rune(shades[i])
	}
	return grid.Text(grid.Convert(g, func(n int) int { return n * (len(shades) - 1) / limit }), m)
}
