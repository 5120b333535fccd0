package cad

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/lazy"
)

func workshopIn(t *testing.T, dir string) Workshop {
	t.Helper()
	l, err := larder.Open(larder.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return Workshop{Larder: l, Log: io.Discard}
}

// parts builds shapes with every operation that a bolt needs.
func parts(length float64) []Part {
	shank := Intersection(Thread(6, 1, length), Cylinder(4, length-1))
	head := Extrude(RegularPolygon(6, 10), 4).Translate(Vec{0, 0, -4})
	nut := Difference(Extrude(RegularPolygon(6, 10), 5), InternalThread(6, 1, 7).Translate(Vec{0, 0, -1}))
	return []Part{
		{FilletUnion(0.3, head, shank), color.RGBA{100, 110, 120, 255}},
		{nut.Translate(Vec{0, 0, 3}).Rotate(Vec{0, 0, 1}, 20), color.RGBA{200, 160, 70, 255}},
	}
}

func TestOnlyWhatDependsIsMadeAgain(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	for _, step := range []struct {
		name            string
		length          float64
		meshes, renders int
	}{
		{"first", 8, 2, 1}, {"again", 8, 0, 0}, {"longer", 9, 1, 1}, {"as it was", 8, 0, 0},
	} {
		w := workshopIn(t, dir)
		m, err := w.Show(t.Context(), filepath.Join(out, "bolt.png"), parts(step.length)...)
		if err != nil {
			t.Fatal(err)
		}
		if m.Meshes != step.meshes || m.Renders != step.renders {
			t.Errorf("%s: %d meshes and %d pictures made, want %d and %d", step.name, m.Meshes, m.Renders, step.meshes, step.renders)
		}
		if step.name == "again" && (m.Made != 0 || m.Loaded != 1) {
			t.Errorf("again: %d made, %d loaded; the picture is one record", m.Made, m.Loaded)
		}
	}
}

func TestBuildingComputesNothing(t *testing.T) {
	w := workshopIn(t, t.TempDir())
	broken := Cylinder(-1, 1) // would be an error
	parts(8)
	if n := w.Larder.Metrics().Computed; n != 0 {
		t.Errorf("%d computations", n)
	}
	_, _, err := w.Mesh(t.Context(), Union(Sphere(1), broken))
	if err == nil || !strings.Contains(err.Error(), "cylinder") {
		t.Errorf("a cylinder of negative radius: %v", err)
	}
}

// TestShapesAreAsTheyAreNamed checks that every shape of scripts equals that of package
// solid, with its measures in the right order.
func TestShapesAreAsTheyAreNamed(t *testing.T) {
	w := workshopIn(t, t.TempDir())
	for name, c := range map[string]struct {
		shape    Solid
		min, max Vec
	}{
		"rectangle": {Extrude(Rectangle(2, 4), 6), Vec{-1, -2, 0}, Vec{1, 2, 6}},
		"circle":    {Extrude(Circle(2), 3), Vec{-2, -2, 0}, Vec{2, 2, 3}},
		"polygon":   {Extrude(Polygon(Point{0, 0}, Point{3, 0}, Point{0, 5}), 1), Vec{0, 0, 0}, Vec{3, 5, 1}},
		"rounded":   {Extrude(Rectangle(2, 4).Rounded(1), 6), Vec{-2, -3, 0}, Vec{2, 3, 6}},
		"revolved":  {Revolve(Polygon(Point{0, 0}, Point{3, 0}, Point{0, 5})), Vec{-3, -3, 0}, Vec{3, 3, 5}},
		"cuboid":    {Cuboid(Vec{2, 4, 6}), Vec{-1, -2, 0}, Vec{1, 2, 6}},
		"cylinder":  {Cylinder(2, 3), Vec{-2, -2, 0}, Vec{2, 2, 3}},
		"scaled":    {Cuboid(Vec{2, 4, 6}).Scale(2), Vec{-2, -4, 0}, Vec{2, 4, 12}},
		"mirrored":  {Cuboid(Vec{2, 4, 6}).Mirror(Vec{0, 0, 1}), Vec{-1, -2, -6}, Vec{1, 2, 0}},
		"round":     {Cuboid(Vec{2, 4, 6}).Round(1), Vec{-2, -3, -1}, Vec{2, 3, 7}},
	} {
		s, err := lazy.Get(t.Context(), w.Larder, c.shape.value, lazy.Evaluation{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		b := s.Bounds()
		for i := range b.Min {
			if math.Abs(b.Min[i]-c.min[i]) > 1e-9 || math.Abs(b.Max[i]-c.max[i]) > 1e-9 {
				t.Errorf("%s reaches from %v to %v, want %v to %v", name, b.Min, b.Max, c.min, c.max)
				break
			}
		}
	}
}

// eager has the functions of package solid that evaluate. All others must be lazy in
// scripts, so no operation is missing.
var eager = map[string]string{"Tessellate": "Mesh", "WriteSTL": "Export", "Render": "Show"}

func TestNoOperationEscapesLaziness(t *testing.T) {
	lazily := functions(t, ".")
	for name, result := range functions(t, "solid") {
		if name := eager[name]; name != "" {
			if _, ok := lazily[name]; !ok {
				t.Errorf("%s is missing", name)
			}
			continue
		}
		want := strings.TrimPrefix(result, "solid.")
		got, ok := lazily[name]
		if !ok {
			t.Errorf("solid.%s is not offered lazily", name)
		} else if got != want {
			t.Errorf("%s gives a %s, not a lazy %s", name, got, want)
		}
	}
}

// functions lists the exported functions of a package, and the methods of lazy types, with
// their first results.
func functions(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !fn.Name.IsExported() || fn.Type.Results == nil || !offered(fn, dir) {
				continue
			}
			if r, ok := fn.Type.Results.List[0].Type.(*ast.Ident); ok {
				found[fn.Name.Name] = r.Name
			} else {
				found[fn.Name.Name] = ""
			}
		}
	}
	return found
}

// offered reports whether a script can call the function. Methods count only if they are
// operations on lazy solids and profiles.
func offered(fn *ast.FuncDecl, dir string) bool {
	if fn.Recv == nil {
		return true
	}
	r, ok := fn.Recv.List[0].Type.(*ast.Ident)
	return ok && dir == "." && slices.Contains([]string{"Solid", "Profile"}, r.Name)
}

func TestInterrupted(t *testing.T) {
	w := workshopIn(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := w.Mesh(ctx, Sphere(3)); err == nil {
		t.Error("no error after the context ended")
	}
}
