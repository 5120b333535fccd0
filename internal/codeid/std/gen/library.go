package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"maps"
	"slices"

	"golang.org/x/tools/go/gcexportdata"
	"golang.org/x/tools/go/packages"
)

// library packs the export data of the packages that programs may import. Each is
// compressed separately, so that only requested packages are read. Positions are omitted.
func library(pkgs []*packages.Package) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	for _, p := range pkgs {
		if !importable(p.PkgPath) || p.PkgPath == "unsafe" {
			continue
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: p.PkgPath, Method: zip.Deflate})
		if err != nil {
			return nil, err
		}
		if err := gcexportdata.Write(w, nil, p.Types); err != nil {
			return nil, fmt.Errorf("package %s: %w", p.PkgPath, err)
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

// imports lists the imports of each package, one line each, including packages that
// programs may not import, because paths lead through them.
func imports(pkgs []*packages.Package) []byte {
	var b bytes.Buffer
	for _, p := range pkgs {
		fmt.Fprint(&b, p.PkgPath)
		for _, path := range slices.Sorted(maps.Keys(p.Imports)) {
			fmt.Fprint(&b, " ", p.Imports[path].PkgPath)
		}
		fmt.Fprintln(&b)
	}
	return b.Bytes()
}
