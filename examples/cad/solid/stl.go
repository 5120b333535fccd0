package solid

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
)

// WriteSTL writes a mesh as binary STL, with the normal of each triangle.
func WriteSTL(w io.Writer, m Mesh) error {
	if err := m.Check(); err != nil {
		return err
	}
	to := bufio.NewWriter(w)
	var header [84]byte // 80 bytes of empty comment, and the number of triangles
	binary.LittleEndian.PutUint32(header[80:], uint32(m.Len()))
	if _, err := to.Write(header[:]); err != nil {
		return err
	}
	for i := range m.Len() {
		a, b, c := m.triangle(i)
		var facet [50]byte // ends with two bytes of attributes, 0
		for j, v := range [4]Vec{b.Sub(a).Cross(c.Sub(a)).unit(), a, b, c} {
			for k, x := range v {
				binary.LittleEndian.PutUint32(facet[12*j+4*k:], math.Float32bits(float32(x)))
			}
		}
		if _, err := to.Write(facet[:]); err != nil {
			return err
		}
	}
	return to.Flush()
}
