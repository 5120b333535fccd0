package main

import (
	"go/ast"
	"go/types"
	"strings"
	"testing"
)

// TestEffects checks that all effects of functions on memory of their operands are found.
func TestEffects(t *testing.T) {
	n := comparedWithComments(t, "./testdata/effects", func(s *summary, method bool) string { return s.word(method) })
	if n < 70 {
		t.Errorf("%d functions", n)
	}
}

// TestNumbers checks that a function writes numbers only if it writes, stores or passes on nothing else.
func TestNumbers(t *testing.T) {
	n := comparedWithComments(t, "./testdata/numbers", func(s *summary, _ bool) string {
		if s.numbers() {
			return "numbers"
		}
		return "more"
	})
	if n < 30 {
		t.Errorf("%d functions", n)
	}
}

// comparedWithComments compares the facts about the functions of a package with the last line of the comment of each,
// and returns their number.
func comparedWithComments(t *testing.T, dir string, say func(s *summary, method bool) string) (n int) {
	pkgs, err := load(dir)
	if err != nil {
		t.Fatal(err)
	}
	fixes, err := parseCorrections([]byte("sync/atomic.* pure writes\n"))
	if err != nil {
		t.Fatal(err)
	}
	p := build(pkgs, fixes)
	m := summarize(p)
	for _, f := range pkgs[0].Syntax {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Doc == nil {
				continue
			}
			n++
			want := strings.TrimSpace(strings.TrimPrefix(fn.Doc.List[len(fn.Doc.List)-1].Text, "//"))
			o := pkgs[0].TypesInfo.Defs[fn.Name].(*types.Func)
			if got := say(m.summaries[p.prog.FuncValue(o)], fn.Recv != nil); got != want {
				t.Errorf("%s: got %s, want %s", fn.Name.Name, got, want)
			}
		}
	}
	return n
}
