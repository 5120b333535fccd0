package analysis

import (
	"slices"
	"testing"
	"testing/fstest"
)

// TestSourcesAreLetGo checks that parsed sources are released some time after their last use, and not before. Parsing
// them again gives the same identities, also of functions that depend on which others were identified before.
func TestSourcesAreLetGo(t *testing.T) {
	const text = `package calc

import "embed"

//go:embed *.go
var files embed.FS

var factor = 2

// Set is called from outside, once it is identified.
func Set(f int) { factor = f }

func Area(r int) int { return r * factor }
`
	registry.Lock()
	was := registry.packages
	registry.packages = slices.Concat(was, []*registration{{path: "x/calc", files: fstest.MapFS{"calc.go": {Data: []byte(text)}}}})
	registry.programs = nil
	registry.held = held{}
	registry.Unlock()
	defer func() {
		registry.Lock()
		defer registry.Unlock()
		registry.packages, registry.programs, registry.held = was, nil, held{}
	}()
	identify := func(symbol string) string {
		c, err := Identify(Function{Package: "x/calc", Symbol: symbol}, Declared{})
		if err != nil {
			return err.Error()
		}
		return c.ID.String()
	}
	parsed := func() int {
		registry.Lock()
		defer registry.Unlock()
		return len(registry.programs)
	}
	alone := identify("Area")
	identify("Set")
	after := identify("Area")
	if alone == after {
		t.Fatal("a function that may be called counts for nothing")
	}
	registry.Lock()
	use := registry.held.uses
	registry.Unlock()
	if letGo(use - 1); parsed() != 1 {
		t.Errorf("%d programs are held after another use, want 1", parsed())
	}
	if letGo(use); parsed() != 0 {
		t.Errorf("%d programs are held when the last use is over, want 0", parsed())
	}
	if again := identify("Area"); again != after {
		t.Errorf("%q before, %q when it was parsed again", after, again)
	}
	registry.Lock()
	registry.programs[ofLarder("x/calc")].broken = "a panic"
	use = registry.held.uses
	registry.Unlock()
	if letGo(use); parsed() != 1 {
		t.Error("what could not be understood was evicted")
	}
}
