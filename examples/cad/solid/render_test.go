package solid_test

import (
	"bytes"
	"image"
	"image/color"
	"math"
	"strings"
	"testing"

	"github.com/larder-data/larder/examples/cad/solid"
)

var (
	red  = color.RGBA{200, 40, 40, 255}
	blue = color.RGBA{40, 40, 200, 255}
)

func render(t testing.TB, o solid.RenderOptions, parts ...solid.Part) *image.RGBA {
	t.Helper()
	img, err := solid.Render(parts, o)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// area returns the bounding rectangle of all pixels in a shade of red, or of blue.
func area(img *image.RGBA, isRed bool) (r image.Rectangle) {
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			c := img.RGBAAt(x, y)
			if d := int(c.R) - int(c.B); isRed && d > 20 || !isRed && d < -30 {
				r = r.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return r
}

func TestRenderShowsEachPart(t *testing.T) {
	box := must(solid.Cuboid(solid.Vec{2, 2, 2}))
	left := solid.Part{Mesh: mesh(t, box, 0.2), Colour: red}
	right := solid.Part{Mesh: mesh(t, must(solid.Translate(box, solid.Vec{4, 0, 0})), 0.2), Colour: blue}
	for azimuth, redIsLeft := range map[float64]bool{0: true, 30: true, 180: false, -150: false} {
		o := solid.RenderOptions{Width: 200, Height: 100, Azimuth: azimuth, Elevation: 20}
		img := render(t, o, left, right)
		r, b := area(img, true), area(img, false)
		if r.Empty() || b.Empty() || (r.Min.X < b.Min.X) != redIsLeft {
			t.Errorf("azimuth %v: red in %v and blue in %v", azimuth, r, b)
		}
		all := r.Union(b)
		if !all.In(image.Rect(10, 5, 190, 95)) || all.Dx() < 120 && all.Dy() < 60 {
			t.Errorf("azimuth %v: the parts fill %v of %v", azimuth, all, img.Rect)
		}
	}
}

func TestRenderHidesWhatIsBehind(t *testing.T) {
	ball := must(solid.Sphere(1))
	near := solid.Part{Mesh: mesh(t, must(solid.Scale(ball, 2)), 0.2), Colour: red}
	far := solid.Part{Mesh: mesh(t, must(solid.Translate(ball, solid.Vec{0, 5, 0})), 0.1), Colour: blue}
	o := solid.RenderOptions{Width: 80, Height: 80}
	for _, parts := range [][]solid.Part{{near, far}, {far, near}} {
		if seen := area(render(t, o, parts...), false); !seen.Empty() {
			t.Errorf("the hidden ball is seen in %v", seen)
		}
	}
}

func TestRenderFromAbove(t *testing.T) {
	// The picture shows a plate of 4 by 2 in x and y with this width and height.
	plate := solid.Part{Mesh: mesh(t, must(solid.Cuboid(solid.Vec{4, 2, 0.1})), 0.05), Colour: red}
	seen := area(render(t, solid.RenderOptions{Width: 200, Height: 200, Elevation: 90}, plate), true)
	if ratio := float64(seen.Dx()) / float64(seen.Dy()); math.Abs(ratio-2) > 0.05 {
		t.Errorf("it fills %v, want twice as wide as high", seen)
	}
}

func TestRenderShadow(t *testing.T) {
	rod := solid.Part{Mesh: mesh(t, must(solid.Cylinder(0.5, 4)), 0.1), Colour: red}
	img := render(t, solid.RenderOptions{Width: 300, Height: 200, Elevation: 35}, rod)
	seen := area(img, true)
	y := seen.Max.Y - seen.Dy()/6
	lightSide, shade := img.RGBAAt(seen.Min.X-12, y), img.RGBAAt(seen.Max.X+12, y)
	if int(shade.R) > int(lightSide.R)-20 {
		t.Errorf("the floor is %v on the side away from the light and %v on the other", shade, lightSide)
	}
}

func TestRenderIsTheSameAlways(t *testing.T) {
	p := solid.Part{Mesh: mesh(t, nut(), 0.5), Colour: red}
	o := solid.RenderOptions{Width: 120, Height: 90, Samples: 3, Elevation: 30}
	if !bytes.Equal(render(t, o, p).Pix, render(t, o, p).Pix) {
		t.Error("two pictures of one nut differ")
	}
}

func TestRenderRefuses(t *testing.T) {
	good := solid.Part{Mesh: mesh(t, must(solid.Sphere(1)), 0.5)}
	point := solid.Mesh{Vertices: []float32{1, 1, 1}, Triangles: []uint32{0, 0, 0}}
	render(t, solid.RenderOptions{Width: 9, Height: 9}, solid.Part{Mesh: point}) // empty, but not an error
	for name, c := range map[string]struct {
		options solid.RenderOptions
		mesh    solid.Mesh
		says    string
	}{
		"negative width":  {solid.RenderOptions{Width: -1}, good.Mesh, "-1 by 900"},
		"huge":            {solid.RenderOptions{Width: 1 << 40, Height: 1 << 40}, good.Mesh, "at most"},
		"samples":         {solid.RenderOptions{Samples: 5}, good.Mesh, "5²"},
		"elevation":       {solid.RenderOptions{Elevation: 91}, good.Mesh, "91"},
		"azimuth":         {solid.RenderOptions{Azimuth: math.NaN()}, good.Mesh, "NaN"},
		"nothing":         {solid.RenderOptions{}, solid.Mesh{}, "nothing"},
		"half a triangle": {solid.RenderOptions{}, solid.Mesh{Triangles: []uint32{0, 1}}, "multiples of 3"},
		"no such vertex":  {solid.RenderOptions{}, solid.Mesh{Vertices: make([]float32, 9), Triangles: []uint32{0, 1, 3}}, "vertex 3 of 3"},
		"a vertex of NaN": {solid.RenderOptions{}, solid.Mesh{Vertices: []float32{0, 0, float32(math.NaN())}, Triangles: make([]uint32, 3)}, "NaN"},
	} {
		_, err := solid.Render([]solid.Part{{Mesh: c.mesh}}, c.options)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want one that says %q", name, err, c.says)
		}
	}
}

func BenchmarkRenderBolt(b *testing.B) {
	p := solid.Part{Mesh: mesh(b, bolt(30), 0.15), Colour: red}
	b.ReportAllocs()
	for b.Loop() {
		render(b, solid.RenderOptions{Azimuth: 25, Elevation: 28}, p)
	}
}
