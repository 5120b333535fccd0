package main

import (
	"go/ast"
	"go/types"
	"strings"
	"testing"
)

// TestOutside checks that the external dependencies of a function are found, whatever the path.
func TestOutside(t *testing.T) {
	pkgs, err := load("./testdata/outside")
	if err != nil {
		t.Fatal(err)
	}
	fixes, err := parseCorrections([]byte(pkgs[0].PkgPath + ".clock ; the clock\n"))
	if err != nil {
		t.Fatal(err)
	}
	p := build(pkgs, fixes)
	s := examine(p)
	n := 0
	for _, d := range pkgs[0].Syntax[0].Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Doc == nil {
			continue
		}
		n++
		want := strings.TrimSpace(fn.Doc.Text())
		node := p.prog.FuncValue(pkgs[0].TypesInfo.Defs[fn.Name].(*types.Func))
		got := s.ways[node].label
		if got == "" {
			got = "nothing"
		}
		if got != want {
			t.Errorf("%s depends on %s, not on %s", fn.Name.Name, got, want)
		}
	}
	if n < 15 {
		t.Errorf("%d functions", n)
	}
}
