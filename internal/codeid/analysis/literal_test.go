package analysis_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/larder-data/larder/internal/codeid/analysis"
)

// lineHere returns the line of its call.
func lineHere() int {
	_, _, at, _ := runtime.Caller(1)
	return at
}

// TestLiteralsAreFoundByTheirFunc checks that literals are found by their func. With inlining, their first instruction may belong to another function.
func TestLiteralsAreFoundByTheirFunc(t *testing.T) {
	for _, c := range []struct {
		what string
		f    any
		line int
	}{
		{"a loop over memory of the argument", func(p *struct{ values []float32 }) int {
			n := 0
			for range p.values {
				n++
			}
			return n
		}, lineHere() - 6},
		{"a literal that is inlined", func(p *struct{ values []float32 }) int {
			return slices.IndexFunc(p.values, func(v float32) bool { return v > 1 })
		}, lineHere() - 2},
		{"a literal in the header of a loop", func(p *[4]int) (n int) {
			for n < len(p) &&
				func(v int) bool { return v > 1 }(p[n]) {
				n++
			}
			return n
		}, lineHere() - 6},
		{"one that does nothing", func() {}, lineHere()},
	} {
		if f, err := analysis.FunctionOf(c.f); err != nil || f.Line != c.line || f.File != "literal_test.go" {
			t.Errorf("%s: %s:%d, %v; want line %d", c.what, f.File, f.Line, err, c.line)
		}
	}
}
