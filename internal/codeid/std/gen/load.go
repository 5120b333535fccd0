package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// load type-checks the sources of the standard library and their dependencies, ordered by
// path. It uses one platform, so that the files are the same wherever they are generated.
func load(patterns ...string) ([]*packages.Package, error) {
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedTypes | packages.NeedTypesInfo | packages.NeedTypesSizes | packages.NeedSyntax,
		Env: append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=", "GOAMD64=v1"),
	}, patterns...)
	if err != nil {
		return nil, err
	}
	for _, p := range pkgs {
		for _, err := range p.Errors {
			return nil, fmt.Errorf("package %s: %w", p.PkgPath, err)
		}
	}
	slices.SortFunc(pkgs, func(a, b *packages.Package) int { return strings.Compare(a.PkgPath, b.PkgPath) })
	return pkgs, nil
}

// importable reports whether programs may import the package.
func importable(path string) bool {
	return !strings.HasPrefix(path, "vendor/") && !slices.Contains(strings.Split(path, "/"), "internal")
}
