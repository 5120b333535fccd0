package cad

import (
	"bytes"
	"context"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"os"
	"sync"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/examples/cad/solid"
	"github.com/larder-data/larder/lazy"
)

// Cell is the size of the smallest detail that a mesh shows, in millimetres.
const Cell = 0.15

var (
	mesh = lazy.Func2("mesh", solid.Tessellate)
	stl  = lazy.Func1("stl", func(_ background, m solid.Mesh) ([]byte, error) {
		var b bytes.Buffer
		err := solid.WriteSTL(&b, m)
		return b.Bytes(), err
	})
	picture = lazy.Func3("picture", func(_ background, meshes []solid.Mesh, colours []color.RGBA, o solid.RenderOptions) ([]byte, error) {
		parts := make([]solid.Part, len(meshes))
		for i, m := range meshes {
			parts[i] = solid.Part{Mesh: m, Colour: colours[i]}
		}
		img, err := solid.Render(parts, o)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		err = png.Encode(&b, img)
		return b.Bytes(), err
	})
)

// A Part is a solid with a colour.
type Part struct {
	Solid  Solid
	Colour color.RGBA
}

// A Workshop evaluates solids. The functions [Mesh], [Show] and [Export] use one whose
// cache is the one of all programs of the user.
type Workshop struct {
	Larder *larder.Larder
	Log    io.Writer // receives a line with the cost of each request; may be nil
}

// Made reports the cost of a request.
type Made struct {
	Nodes           int // of the description
	Loaded, Made    int // of them, read from the cache and computed
	Meshes, Renders int // of those computed, the expensive ones
	Took            time.Duration
}

func (m Made) String() string {
	return fmt.Sprintf("%d nodes: %d loaded, %d made (%d meshes, %d pictures) in %v",
		m.Nodes, m.Loaded, m.Made, m.Meshes, m.Renders, m.Took.Round(10*time.Microsecond))
}

// evaluate evaluates a value and reports the cost.
func evaluate[T any](ctx context.Context, w Workshop, name string, v lazy.Value[T]) (got T, m Made, err error) {
	start := time.Now()
	got, err = lazy.Get(ctx, w.Larder, v, lazy.Evaluation{Progress: func(p lazy.Progress) {
		m.Loaded, m.Made = p.Loaded, p.Computed
		if p.From == larder.Computed {
			switch p.Node {
			case "mesh":
				m.Meshes++
			case "picture":
				m.Renders++
			}
		}
	}})
	m.Took = time.Since(start)
	if err != nil {
		return got, m, fmt.Errorf("%s: %w", name, err)
	}
	if w.Log != nil {
		tree, err := lazy.Tree(ctx, w.Larder, v)
		if err != nil {
			return got, m, err
		}
		m.Nodes = len(tree.Nodes)
		fmt.Fprintf(w.Log, "%s: %v\n", name, m)
	}
	return got, m, nil
}

// Mesh returns the surface of a solid as triangles.
func (w Workshop) Mesh(ctx context.Context, s Solid) (solid.Mesh, Made, error) {
	return evaluate(ctx, w, "mesh", mesh(s.value, lazy.Of(Cell)))
}

// Export writes the surface of a solid to an STL file.
func (w Workshop) Export(ctx context.Context, path string, s Solid) (Made, error) {
	v := stl(mesh(s.value, lazy.Of(Cell)))
	_, m, err := evaluate(ctx, w, path, v)
	if err != nil {
		return m, err
	}
	return m, lazy.Export(ctx, w.Larder, v, path)
}

// Show writes a picture of the parts to a PNG file.
func (w Workshop) Show(ctx context.Context, path string, parts ...Part) (Made, error) {
	meshes := make([]lazy.Value[solid.Mesh], len(parts))
	colours := make([]color.RGBA, len(parts))
	for i, p := range parts {
		meshes[i], colours[i] = mesh(p.Solid.value, lazy.Of(Cell)), p.Colour
	}
	v := picture(lazy.Slice(meshes...), lazy.Of(colours), lazy.Of(solid.RenderOptions{Width: 1000, Height: 800, Azimuth: 35, Elevation: 25}))
	_, m, err := evaluate(ctx, w, path, v)
	if err != nil {
		return m, err
	}
	return m, lazy.Export(ctx, w.Larder, v, path)
}

// workshop is the default workshop.
var workshop = sync.OnceValues(func() (Workshop, error) {
	l, err := larder.Open(larder.Options{})
	return Workshop{Larder: l, Log: os.Stderr}, err
})

// Mesh returns the surface of a solid as triangles.
func Mesh(s Solid) (solid.Mesh, error) {
	w, err := workshop()
	if err != nil {
		return solid.Mesh{}, err
	}
	m, _, err := w.Mesh(context.Background(), s)
	return m, err
}

// Export writes the surface of a solid to an STL file.
func Export(path string, s Solid) error {
	w, err := workshop()
	if err != nil {
		return err
	}
	_, err = w.Export(context.Background(), path, s)
	return err
}

// Show writes a picture of the parts to a PNG file.
func Show(path string, parts ...Part) error {
	w, err := workshop()
	if err != nil {
		return err
	}
	_, err = w.Show(context.Background(), path, parts...)
	return err
}
