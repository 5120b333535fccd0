// Package std describes Go's standard library: the types of its packages, and what its
// functions do beyond computing with their operands. Larder uses it because the sources of
// the library may be missing at run time.
//
// Both are generated (see gen) from the sources of one Go release, for linux/amd64 without
// cgo.
package std

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"fmt"
	"go/token"
	"go/types"
	"io"
	"strings"
	"sync"

	"golang.org/x/tools/go/gcexportdata"
)

//go:generate go run ./gen

// Go is the Go release that this package describes.
const Go = "go1.26"

//go:embed lib.zip
var archive []byte

// packages holds the export data of each package, by its path.
var packages = sync.OnceValue(func() map[string]*zip.File {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		panic("std: lib.zip is damaged: " + err.Error()) // part of the program
	}
	m := make(map[string]*zip.File, len(z.File))
	for _, f := range z.File {
		m[f.Name] = f
	}
	return m
})

// Has reports whether path is a known package of the standard library, including package
// unsafe.
func Has(path string) bool {
	return path == "unsafe" || packages()[path] != nil
}

// A Library holds the packages of the standard library for one type-checked program: types
// of two libraries are never identical. Its methods may be called by many goroutines.
type Library struct {
	mu       sync.Mutex
	fset     *token.FileSet
	packages map[string]*types.Package // at least partly read
	whole    map[string]bool           // completely read
}

// New returns a library without any packages read.
func New() *Library {
	return &Library{
		fset:     token.NewFileSet(),
		packages: map[string]*types.Package{},
		whole:    map[string]bool{},
	}
}

// Import returns the package of the given path, with its exported declarations; it makes
// Library a [types.Importer]. It fails for paths for which [Has] returns false.
func (l *Library) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	f := packages()[path]
	if f == nil {
		return nil, fmt.Errorf("std: package %q is not known: it is not in the standard library of %s for linux/amd64, or is internal to it, or needs cgo", path, Go)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.whole[path] {
		return l.packages[path], nil
	}
	p, err := l.read(f)
	if err != nil {
		return nil, fmt.Errorf("std: types of package %q: %w", path, err)
	}
	l.whole[path] = true
	return p, nil
}

// read adds a package, and the declarations that it needs of others.
func (l *Library) read(f *zip.File) (*types.Package, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return gcexportdata.Read(bytes.NewReader(b), l.fset, l.packages, f.Name)
}

// importLines lists the imports of each package, one line each.
//
//go:embed imports.txt
var importLines string

// importsOf lists the packages that each package imports.
var importsOf = sync.OnceValue(func() map[string][]string {
	m := map[string][]string{}
	for line := range strings.Lines(importLines) {
		words := strings.Fields(line)
		m[words[0]] = words[1:]
	}
	return m
})

// reaches caches the results of Imports.
var reaches sync.Map // of map[string]bool, by path

// Imports reports whether a package of the standard library is another one, or imports it
// directly or indirectly. An unknown package counts as importing all.
func Imports(path, other string) bool {
	all, ok := reaches.Load(path)
	if !ok {
		seen := map[string]bool{path: true}
		for todo := []string{path}; len(todo) > 0; {
			list, known := importsOf()[todo[0]]
			if todo = todo[1:]; !known {
				seen = nil
				break
			}
			for _, in := range list {
				if !seen[in] {
					seen[in] = true
					todo = append(todo, in)
				}
			}
		}
		all, _ = reaches.LoadOrStore(path, seen)
	}
	seen := all.(map[string]bool)
	return seen == nil || seen[other]
}
