package solid_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/examples/cad/solid"
)

func mesh(t testing.TB, s solid.Solid, cell float64) solid.Mesh {
	t.Helper()
	m, err := solid.Tessellate(t.Context(), s, cell)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// checkWatertight fails if an edge does not belong to one triangle in each direction, or if
// the normals point inwards.
func checkWatertight(t *testing.T, m solid.Mesh) {
	t.Helper()
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	edges := map[[2]uint32]int{}
	for i := 0; i < len(m.Triangles); i += 3 {
		for j := range 3 {
			edges[[2]uint32{m.Triangles[i+j], m.Triangles[i+(j+1)%3]}]++
		}
	}
	for e, n := range edges {
		if n != 1 || edges[[2]uint32{e[1], e[0]}] != 1 || e[0] == e[1] {
			t.Fatalf("edge %v is in %d triangles, and %d the other way round", e, n, edges[[2]uint32{e[1], e[0]}])
		}
	}
	if m.Volume() <= 0 {
		t.Fatalf("volume %v: the normals point inwards", m.Volume())
	}
}

func TestWatertight(t *testing.T) {
	for name, s := range solids(t) {
		t.Run(name, func(t *testing.T) {
			size := s.Bounds().Size()
			for _, cells := range []float64{9, 40} {
				m := mesh(t, s, max(size[0], size[1], size[2])/cells)
				checkWatertight(t, m)
			}
		})
	}
}

// noise has every pattern of corners inside and outside, also with ambiguous faces.
type noise struct{}

func (noise) Bounds() solid.Box { return solid.Box{Max: solid.Vec{16, 16, 16}} }
func (noise) Distance(p solid.Vec) float64 {
	at := [3]int64{}
	for a := range 3 {
		at[a] = int64(math.Floor(p[a]))
		if at[a] < 1 || at[a] >= 15 {
			return 0.01
		}
	}
	r := rand.New(rand.NewPCG(uint64(at[0]), uint64(at[1]*100+at[2])))
	return 0.01 * float64(r.IntN(2)*2-1)
}

func TestWatertightInNoise(t *testing.T) {
	m := mesh(t, noise{}, 1)
	checkWatertight(t, m)
	if m.Len() < 5000 {
		t.Errorf("%d triangles: too few to have met all patterns", m.Len())
	}
}

func TestClosedForms(t *testing.T) {
	const pi = math.Pi
	ring := must(solid.Circle(1))
	for _, c := range []struct {
		name         string
		solid        solid.Solid
		cell         float64
		volume, area float64
	}{
		{"cuboid", must(solid.Cuboid(solid.Vec{2, 3, 4})), 0.1, 24, 52},
		{"turned cuboid", must(solid.Rotate(must(solid.Cuboid(solid.Vec{2, 3, 4})), solid.Vec{1, 2, 3}, 33)), 0.1, 24, 52},
		{"sphere", must(solid.Sphere(2)), 0.1, 32 * pi / 3, 16 * pi},
		{"cylinder", must(solid.Cylinder(1, 3)), 0.05, 3 * pi, 8 * pi},
		{"hexagon", must(solid.Extrude(must(solid.RegularPolygon(6, 13)), 5)), 0.3, 13 * 13 * math.Sqrt(3) / 2 * 5, 13*13*math.Sqrt(3) + 6*13/math.Sqrt(3)*5},
		{"cone", must(solid.Revolve(must(solid.Polygon(solid.Point{0, 0}, solid.Point{2, 0}, solid.Point{0, 2})))), 0.02, 8 * pi / 3, 4*pi + 2*pi*math.Sqrt(8)},
		{"ball on the axis", must(solid.Revolve(ring)), 0.1, 4 * pi / 3, 4 * pi},
		{"tube", must(solid.Difference(must(solid.Cylinder(2, 3)), must(solid.Translate(must(solid.Cylinder(1, 5)), solid.Vec{0, 0, -1})))), 0.1, 9 * pi, 6*pi + 18*pi},
		{"two boxes", must(solid.Union(must(solid.Cuboid(solid.Vec{2, 2, 2})), must(solid.Translate(must(solid.Cuboid(solid.Vec{2, 2, 2})), solid.Vec{1, 0, 0})))), 0.1, 12, 32},
		{"box of boxes", must(solid.Intersection(must(solid.Cuboid(solid.Vec{2, 2, 2})), must(solid.Translate(must(solid.Cuboid(solid.Vec{2, 2, 2})), solid.Vec{1, 0, 0})))), 0.1, 4, 16},
		{"rounded box", must(solid.Round(must(solid.Cuboid(solid.Vec{2, 2, 2})), 0.5)), 0.1, 8 + 12 + 1.5*pi + pi/6, 24 + 6*pi + pi},
		{"scaled sphere", must(solid.Scale(must(solid.Sphere(1)), 3)), 0.2, 36 * pi, 36 * pi},
		// The upper end of a pillar of 4 by 4 by 4, which at depth 1-u is narrower by
		// 1-√(1-u²) on all sides.
		{"pillow", must(solid.FilletIntersection(1, must(solid.Cuboid(solid.Vec{4, 4, 20})), must(solid.Translate(must(solid.Cuboid(solid.Vec{20, 20, 20})), solid.Vec{0, 0, -16})))), 0.1, 3*16 + 4 + 2*pi + 8./3, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := mesh(t, c.solid, c.cell)
			if got := m.Volume(); math.Abs(got/c.volume-1) > 0.003 {
				t.Errorf("volume %v, want %v", got, c.volume)
			}
			if got := m.Area(); c.area != 0 && math.Abs(got/c.area-1) > 0.003 {
				t.Errorf("area %v, want %v", got, c.area)
			}
		})
	}
}

func TestSharpEdgesStay(t *testing.T) {
	m := mesh(t, must(solid.Rotate(must(solid.Cuboid(solid.Vec{2, 2, 2})), solid.Vec{0, 0, 1}, 30)), 0.1)
	far := 0.0
	for i := 0; i < len(m.Vertices); i += 3 {
		far = max(far, math.Hypot(float64(m.Vertices[i]), float64(m.Vertices[i+1])))
	}
	if math.Abs(far-math.Sqrt2) > 0.01 {
		t.Errorf("the edge farthest from the axis is %v away, want %v", far, math.Sqrt2)
	}
}

func TestThreadedVolume(t *testing.T) {
	// The cross-section of a thread has the same area at each height.
	const d, p, l = 8, 1.25, 10
	h := p * math.Sqrt(3) / 2
	mean := 0.0 // mean of the squared radius over a pitch
	const n = 100000
	for i := range n {
		z := math.Abs(float64(i)/n-0.5) * p // from a crest
		r := d/2 - max(0, z-p/16)*math.Sqrt(3)
		r = max(r, d/2-17./24*h)
		mean += r * r / n
	}
	m := mesh(t, must(solid.Thread(d, p, l)), 0.12)
	if want := math.Pi * mean * l; math.Abs(m.Volume()/want-1) > 0.003 {
		t.Errorf("volume %v, want %v", m.Volume(), want)
	}
}

func TestSameBytesAlways(t *testing.T) {
	s := bolt(6)
	want := mesh(t, s, 0.3)
	for _, n := range []int{1, 2, 7} {
		t.Run("", func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
			got := mesh(t, bolt(6), 0.3)
			if !slices.Equal(got.Vertices, want.Vertices) || !slices.Equal(got.Triangles, want.Triangles) {
				t.Errorf("another mesh with %d processors", n)
			}
		})
	}
}

// stopper cancels the context at the first request for a distance.
type stopper struct {
	solid.Solid
	cancel context.CancelCauseFunc
}

var errEnough = errors.New("enough")

func (s stopper) Distance(p solid.Vec) float64 {
	s.cancel(errEnough)
	return s.Solid.Distance(p)
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	s := must(solid.Sphere(1))
	if _, err := solid.Tessellate(ctx, stopper{s, cancel}, 0.01); !errors.Is(err, errEnough) {
		t.Errorf("error %v, want %v", err, errEnough)
	}
}

// torn is larger than its bounds.
type torn struct{ solid.Solid }

func (torn) Bounds() solid.Box { return solid.Box{Max: solid.Vec{1, 1, 1}} }

func TestTessellateRefuses(t *testing.T) {
	ball := must(solid.Sphere(1))
	for name, c := range map[string]struct {
		solid solid.Solid
		cell  float64
		says  string
	}{
		"nil":            {nil, 1, "nil"},
		"cell of 0":      {ball, 0, "cell is 0"},
		"cell of NaN":    {ball, math.NaN(), "cell is NaN"},
		"too many cells": {ball, 0.001, "2 by 2 by 2 in cells of 0.001 is 8.1e+09 cells, and 268435456 are allowed; use cells of 0.0033"},
		"overflow":       {must(solid.Sphere(1e6)), 1e-6, "cells"},
		"nothing":        {must(solid.Difference(ball, must(solid.Sphere(2)))), 0.1, "nothing found"},
		"out of bounds":  {torn{ball}, 0.1, "leaves"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := solid.Tessellate(t.Context(), c.solid, c.cell)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want one that says %q", err, c.says)
			}
		})
	}
}

func TestSTL(t *testing.T) {
	m := mesh(t, must(solid.Cuboid(solid.Vec{1, 2, 3})), 0.2)
	var b bytes.Buffer
	if err := solid.WriteSTL(&b, m); err != nil {
		t.Fatal(err)
	}
	file := b.Bytes()
	if n := binary.LittleEndian.Uint32(file[80:]); int(n) != m.Len() || len(file) != 84+50*m.Len() {
		t.Fatalf("%d triangles in %d bytes, want %d", n, len(file), m.Len())
	}
	for i := range m.Len() {
		var f [12]float32 // normal and three points
		if _, err := binary.Decode(file[84+50*i:], binary.LittleEndian, &f); err != nil {
			t.Fatal(err)
		}
		for j := range 3 {
			v := 3 * m.Triangles[3*i+j]
			if !slices.Equal(f[3+3*j:6+3*j], m.Vertices[v:v+3]) {
				t.Fatalf("triangle %d has point %v, want %v", i, f[3+3*j:6+3*j], m.Vertices[v:v+3])
			}
		}
		a, b, c := vec(f[3:]), vec(f[6:]), vec(f[9:])
		if n := b.Sub(a).Cross(c.Sub(a)); math.Abs(n.Dot(vec(f[:]))-n.Length()) > 1e-6 {
			t.Fatalf("triangle %d has the normal %v, want %v", i, f[:3], n)
		}
	}
	if err := solid.WriteSTL(&b, solid.Mesh{Triangles: []uint32{0, 1, 2}}); err == nil {
		t.Error("a mesh without vertices was written")
	}
}

func vec(f []float32) solid.Vec { return solid.Vec{float64(f[0]), float64(f[1]), float64(f[2])} }

func BenchmarkTessellateBolt(b *testing.B) {
	s := bolt(30)
	b.ReportAllocs()
	for b.Loop() {
		m := mesh(b, s, 0.15)
		b.ReportMetric(float64(m.Len()), "triangles")
	}
}
