package main

import (
	"go/ast"
	"go/types"
	"strings"
	"testing"
)

// What functions do to memory of operands is found, whatever the way.
func TestEffects(t *testing.T) {
	pkgs, err := load("./testdata/effects")
	if err != nil {
		t.Fatal(err)
	}
	fixes, err := parseCorrections([]byte("sync/atomic.* pure writes\n"))
	if err != nil {
		t.Fatal(err)
	}
	p := build(pkgs, fixes)
	m := summarize(p)
	n := 0
	for _, f := range pkgs[0].Syntax {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Doc == nil {
				continue
			}
			n++
			want := strings.TrimSpace(strings.TrimPrefix(fn.Doc.List[len(fn.Doc.List)-1].Text, "//"))
			o := pkgs[0].TypesInfo.Defs[fn.Name].(*types.Func)
			if got := m.summaries[p.prog.FuncValue(o)].word(fn.Recv != nil); got != want {
				t.Errorf("%s: got %s, want %s", fn.Name.Name, got, want)
			}
		}
	}
	if n < 70 {
		t.Errorf("%d functions", n)
	}
}
