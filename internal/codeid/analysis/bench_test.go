package analysis

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// large is a program of about 100 000 lines: packages whose functions call each other, use tables, and have methods.
func large() (registered []*registration, lines int) {
	const packages, functions = 40, 250
	for p := range packages {
		files := fstest.MapFS{}
		var b strings.Builder
		fmt.Fprintf(&b, "package p%d\n\nimport (\n\t\"embed\"\n\t\"strings\"\n", p)
		if p > 0 {
			fmt.Fprintf(&b, "\n\t\"bench/p%d\"\n", p-1)
		}
		b.WriteString(")\n\n//go:embed *.go\nvar files embed.FS\n\nvar table = []int{1, 2, 3}\n\ntype T struct{ n int }\n\nfunc (t T) String() string { return strings.Repeat(\"x\", t.n) }\n\n")
		for f := range functions {
			fmt.Fprintf(&b, "// F%d does what it does.\nfunc F%d(n int) int {\n\tif n < table[%d] {\n\t\treturn len(T{n}.String())\n\t}\n", f, f, f%3)
			if f > 0 {
				fmt.Fprintf(&b, "\tn += F%d(n - 1)\n", f-1)
			}
			if p > 0 {
				fmt.Fprintf(&b, "\tn += p%d.F%d(n)\n", p-1, f)
			}
			b.WriteString("\treturn n\n}\n\n")
		}
		files["p.go"] = &fstest.MapFile{Data: []byte(b.String())}
		lines += strings.Count(b.String(), "\n")
		registered = append(registered, &registration{path: fmt.Sprintf("bench/p%d", p), files: files})
	}
	return registered, lines
}

// BenchmarkIdentify100kLines parses the program and identifies the function that reaches all of it: the cost of the
// first run of a new build.
func BenchmarkIdentify100kLines(b *testing.B) {
	registered, lines := large()
	b.ReportAllocs()
	for b.Loop() {
		p, err := load(registered, thisBuild(), "")
		if err != nil {
			b.Fatal(err)
		}
		last := registered[len(registered)-1].path
		c, err := p.identify(Function{Package: last, Symbol: "F249"}, Declared{})
		if err != nil {
			b.Fatal(err)
		}
		if len(c.Parts) < 40*250 {
			b.Fatalf("%d parts", len(c.Parts))
		}
	}
	b.ReportMetric(float64(lines), "lines")
}

// BenchmarkIdentifyNext100kLines identifies other functions of a program after the first. Each reaches nearly all of it.
func BenchmarkIdentifyNext100kLines(b *testing.B) {
	registered, lines := large()
	p, err := load(registered, thisBuild(), "")
	if err != nil {
		b.Fatal(err)
	}
	last := registered[len(registered)-1].path
	next := 249
	identify := func() {
		c, err := p.identify(Function{Package: last, Symbol: fmt.Sprint("F", next)}, Declared{})
		if err != nil {
			b.Fatal(err)
		}
		if len(c.Parts) < 39*200 {
			b.Fatalf("%d parts", len(c.Parts))
		}
		if next--; next < 220 {
			next = 249
		}
	}
	identify()
	b.ReportAllocs()
	for b.Loop() {
		identify()
	}
	b.ReportMetric(float64(lines), "lines")
}
