// Package filter changes pictures.
package filter

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"

	"programs/p03/pixels"
	"programs/p03/work"
)

// A Filter makes a picture of a picture.
type Filter interface {
	Apply(*pixels.Plane) *pixels.Plane
	Name() string
}

// A Kernel is convolved with a picture.
type Kernel struct {
	Title   string
	Size    int
	Weights []float32
	Bias    float32
}

// Kernels by name.
var kernels = map[string]*Kernel{
	"sharpen": {Title: "sharpen", Size: 3, Weights: []float32{0, -1, 0, -1, 5, -1, 0, -1, 0}},
	"emboss":  {Title: "emboss", Size: 3, Weights: []float32{-2, -1, 0, -1, 1, 1, 0, 1, 2}},
	"box":     Box(3),
	"edges":   {Title: "edges", Size: 3, Weights: []float32{-1, -1, -1, -1, 8, -1, -1, -1, -1}, Bias: 0.1},
}

// Box is a blur.
func Box(n int) *Kernel {
	k := &Kernel{Title: fmt.Sprintf("box%d", n), Size: n, Weights: make([]float32, n*n)}
	for i := range k.Weights {
		k.Weights[i] = 1 / float32(n*n)
	}
	return k
}

// Gauss is a better blur.
func Gauss(sigma float64) *Kernel {
	r := int(math.Ceil(2 * sigma))
	k := &Kernel{Title: fmt.Sprintf("gauss%g", sigma), Size: 2*r + 1}
	var sum float32
	for y := -r; y <= r; y++ {
		for x := -r; x <= r; x++ {
			w := float32(math.Exp(-float64(x*x+y*y) / (2 * sigma * sigma)))
			k.Weights = append(k.Weights, w)
			sum += w
		}
	}
	for i := range k.Weights {
		k.Weights[i] /= sum
	}
	return k
}

// Name implements Filter.
func (k *Kernel) Name() string { return k.Title }

// Apply implements Filter.
func (k *Kernel) Apply(p *pixels.Plane) *pixels.Plane {
	out := pixels.NewPlane(p.W, p.H)
	r := k.Size / 2
	work.Rows(p.H, 4, func(y int) {
		for x := range p.W {
			sum := k.Bias
			for i, w := range k.Weights {
				sum += w * p.At(x+i%k.Size-r, y+i/k.Size-r)
			}
			out.Set(x, y, sum)
		}
	})
	return out
}

// A PointFunc changes each pixel by itself.
type PointFunc struct {
	Title string
	F     func(float32) float32
}

// Name implements Filter.
func (f PointFunc) Name() string { return f.Title }

// Apply implements Filter.
func (f PointFunc) Apply(p *pixels.Plane) *pixels.Plane {
	out := p.Clone()
	for i, v := range out.Pix {
		out.Pix[i] = f.F(v)
	}
	return out
}

// Gamma changes brightness.
func Gamma(g float64) PointFunc {
	return PointFunc{"gamma", func(v float32) float32 { return float32(math.Pow(float64(max(v, 0)), g)) }}
}

// Invert is the negative.
var Invert = PointFunc{"invert", func(v float32) float32 { return 1 - v }}

var scratch = sync.Pool{New: func() any { return new([]float32) }}

// Median is a filter against noise.
type Median struct{ Radius int }

// Name implements Filter.
func (m Median) Name() string { return "median" }

// Apply implements Filter.
func (m Median) Apply(p *pixels.Plane) *pixels.Plane {
	out := pixels.NewPlane(p.W, p.H)
	buf := scratch.Get().(*[]float32)
	defer scratch.Put(buf)
	for y := range p.H {
		for x := range p.W {
			*buf = (*buf)[:0]
			for dy := -m.Radius; dy <= m.Radius; dy++ {
				for dx := -m.Radius; dx <= m.Radius; dx++ {
					*buf = append(*buf, p.At(x+dx, y+dy))
				}
			}
			slices.Sort(*buf)
			out.Set(x, y, (*buf)[len(*buf)/2])
		}
	}
	return out
}

// ErrUnknown is returned by Named.
var ErrUnknown = errors.New("filter: unknown")

// Named finds a filter by name.
func Named(name string) (Filter, error) {
	switch {
	case name == "invert":
		return Invert, nil
	case name == "median":
		return Median{1}, nil
	case strings.HasPrefix(name, "gamma"):
		return Gamma(2.2), nil
	}
	if k, ok := kernels[name]; ok {
		return k, nil
	}
	return nil, fmt.Errorf("%w: %q (have %s)", ErrUnknown, name, strings.Join(Names(), ", "))
}

// Names lists the kernels.
func Names() []string {
	var names []string
	for n := range kernels {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// A Chain applies filters one after another.
type Chain []Filter

// ParseChain reads "a|b|c".
func ParseChain(s string) (Chain, error) {
	var c Chain
	for n := range strings.SplitSeq(s, "|") {
		f, err := Named(strings.TrimSpace(n))
		if err != nil {
			return nil, err
		}
		c = append(c, f)
	}
	return c, nil
}

// Name implements Filter.
func (c Chain) Name() string {
	var b strings.Builder
	for i, f := range c {
		if i > 0 {
			b.WriteByte('|')
		}
		b.WriteString(f.Name())
	}
	return b.String()
}

// Apply implements Filter.
func (c Chain) Apply(p *pixels.Plane) *pixels.Plane {
	for _, f := range c {
		p = f.Apply(p)
	}
	return p
}
