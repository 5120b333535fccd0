package cad

import (
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/examples/cad/solid"
	"github.com/larder-data/larder/lazy"
)

// BenchmarkIdentityCached identifies a function by its source in the second run of a build.
// It reads the analysis of the first run from disk.
func BenchmarkIdentityCached(b *testing.B) {
	l, err := larder.Open(larder.Options{Dir: b.TempDir(), MemoryBytes: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	b.ReportAllocs()
	for b.Loop() {
		mesh := lazy.Func2("mesh", solid.Tessellate)
		if _, err := mesh(Sphere(1).value, lazy.Of(Cell)).Key(b.Context(), l); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBoltWarm describes the parts of a bolt and requests their picture, which is
// stored on disk.
func BenchmarkBoltWarm(b *testing.B) {
	l, err := larder.Open(larder.Options{Dir: b.TempDir(), MemoryBytes: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	w, path := Workshop{Larder: l}, b.TempDir()+"/bolt.png"
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.Show(b.Context(), path, parts(8)...); err != nil {
			b.Fatal(err)
		}
	}
}
