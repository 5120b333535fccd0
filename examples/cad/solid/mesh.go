package solid

import (
	"fmt"
	"math"
)

// A Mesh is a surface of triangles.
type Mesh struct {
	Vertices  []float32 // x, y, z of each
	Triangles []uint32  // three vertices of each, counter-clockwise seen from outside
}

// Check returns an error for an invalid mesh, which does not come from [Tessellate]: a
// number of values that is not a multiple of 3, an index without a vertex, a coordinate
// that is NaN or infinite. The other methods panic on such meshes.
func (m Mesh) Check() error {
	if len(m.Vertices)%3 != 0 || len(m.Triangles)%3 != 0 {
		return fmt.Errorf("solid: a mesh of %d coordinates and %d corners; both have to be multiples of 3", len(m.Vertices), len(m.Triangles))
	}
	for i, v := range m.Vertices {
		if math.Abs(float64(v)) <= math.MaxFloat32 {
			continue
		}
		return fmt.Errorf("solid: vertex %d of the mesh has a coordinate %v", i/3, v)
	}
	for i, v := range m.Triangles {
		if uint64(v) >= uint64(len(m.Vertices)/3) {
			return fmt.Errorf("solid: triangle %d of the mesh has vertex %d of %d", i/3, v, len(m.Vertices)/3)
		}
	}
	return nil
}

// Len returns the number of triangles.
func (m Mesh) Len() int { return len(m.Triangles) / 3 }

func (m Mesh) vertex(i uint32) Vec {
	v := m.Vertices[3*int(i):][:3]
	return Vec{float64(v[0]), float64(v[1]), float64(v[2])}
}

func (m Mesh) triangle(i int) (a, b, c Vec) {
	t := m.Triangles[3*i:][:3]
	return m.vertex(t[0]), m.vertex(t[1]), m.vertex(t[2])
}

// Volume returns the enclosed volume, in cubic units.
func (m Mesh) Volume() float64 {
	var sum float64
	for i := range m.Len() {
		a, b, c := m.triangle(i)
		sum += a.Dot(b.Cross(c))
	}
	return sum / 6
}

// Area returns the surface area, in square units.
func (m Mesh) Area() float64 {
	var sum float64
	for i := range m.Len() {
		a, b, c := m.triangle(i)
		sum += b.Sub(a).Cross(c.Sub(a)).Length()
	}
	return sum / 2
}

// Bounds returns the smallest box around the mesh, or a zero box for an empty mesh.
func (m Mesh) Bounds() Box {
	if len(m.Vertices) == 0 {
		return Box{}
	}
	b := emptyBox()
	for i := range len(m.Vertices) / 3 {
		v := m.vertex(uint32(i))
		b = b.hull(Box{v, v})
	}
	return b
}
