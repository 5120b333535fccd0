package analysis

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"slices"
	"strings"
)

// testOf is the suffix of the path of a package's external tests.
const testOf = "_test"

// read parses the files that are compiled into the package.
func (k *pkg) read(r *registration) error {
	names, err := fs.Glob(r.files, "*.go")
	if err != nil {
		return fmt.Errorf("codeid: package %s: %w", r.path, err)
	}
	fset := token.NewFileSet()
	for _, name := range names {
		f := &file{pkg: k, name: name, fset: fset}
		if k.engine && f.tests() {
			continue
		}
		if ok, err := k.program.build.match(r, name); err != nil {
			return fmt.Errorf("codeid: package %s: %w", r.path, err)
		} else if !ok {
			continue
		}
		if f.content, err = fs.ReadFile(r.files, name); err != nil {
			return fmt.Errorf("codeid: package %s: %w", r.path, err)
		}
		if f.syntax, err = parser.ParseFile(fset, name, f.content, parser.ParseComments|parser.SkipObjectResolution); err != nil {
			return fmt.Errorf("codeid: package %s: %w", r.path, err)
		}
		if f.syntax.Name.Name != "documentation" { // not part of any build
			k.syntax = append(k.syntax, f)
		}
	}
	k.choose()
	return nil
}

// tests reports whether the file is compiled only into test binaries.
func (f *file) tests() bool { return strings.HasSuffix(f.name, "_test.go") }

// choose keeps the files that belong to the package: the directory may also have external
// tests, which are a separate package.
func (k *pkg) choose() {
	for _, f := range k.syntax {
		if !f.tests() {
			k.name = f.syntax.Name.Name
		}
	}
	external := func(f *file) bool {
		name := f.syntax.Name.Name
		return f.tests() && strings.HasSuffix(name, testOf) && name != k.name
	}
	isTest := k.path == k.program.build.tested+testOf && (k.also || slices.ContainsFunc(k.syntax, external))
	k.syntax = slices.DeleteFunc(k.syntax, func(f *file) bool { return external(f) != isTest })
	if len(k.syntax) > 0 {
		k.name = k.syntax[0].syntax.Name.Name
	}
}

// withTests adds the external tests of the package under test to the registered packages.
// They are a separate package in the same directory.
func (b *buildInfo) withTests(registered []*registration) []*registration {
	at := func(path string) int {
		return slices.IndexFunc(registered, func(r *registration) bool { return r.path == path })
	}
	i := at(b.tested)
	if b.tested == "" || i < 0 || at(b.tested+testOf) >= 0 {
		return registered
	}
	return append(slices.Clip(registered), &registration{path: b.tested + testOf, files: registered[i].files, also: true})
}

// startTests registers the functions that a test binary calls without naming them.
func (p *parsedProgram) startTests() {
	for _, path := range []string{p.build.tested, p.build.tested + testOf} {
		k := p.packages[path]
		if k == nil {
			continue
		}
		for _, d := range k.decls {
			if d.kind == "func" && d.file.tests() && isTestName(d.names[0]) {
				p.roots[d.object()] = true
			}
		}
	}
}

// isTestName reports whether the Go command may treat a function as a test.
func isTestName(name string) bool {
	return slices.ContainsFunc([]string{"Test", "Benchmark", "Fuzz", "Example"}, func(word string) bool { return strings.HasPrefix(name, word) })
}
