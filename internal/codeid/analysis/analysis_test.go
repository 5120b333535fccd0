package analysis

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/larder-data/larder/codeid"
)

// parsed parses packages given as sources by import path, each with one file.
func parsed(t *testing.T, packages map[string]string, pure ...string) *parsedProgram {
	t.Helper()
	whole := map[string]string{}
	for path, text := range packages {
		name := path[strings.LastIndexByte(path, '/')+1:]
		text = "package " + name + "\n\n" + strings.Replace(text, "IMPORTS", `"embed"`, 1) + "\n\n//go:embed *.go\nvar files embed.FS\n"
		if !strings.Contains(text, `"embed"`) {
			text = strings.Replace(text, "\n\n", "\n\nimport \"embed\"\n\n", 1)
		}
		whole[path] = text
	}
	return parsedText(t, whole, pure...)
}

// parsedText parses packages of one file each.
func parsedText(t *testing.T, packages map[string]string, pure ...string) *parsedProgram {
	t.Helper()
	var registered []*registration
	for path, text := range packages {
		name := path[strings.LastIndexByte(path, '/')+1:]
		registered = append(registered, &registration{path: path, options: codeid.Options{Pure: pure}, files: fstest.MapFS{name + ".go": {Data: []byte(text)}}})
	}
	b := thisBuild()
	b.modules = []module{{path: "x", main: true}, {path: "dep.org/known", version: "dep.org/known@v1.2.3 h1:sum"}}
	b.tested = slices.Min(slices.Collect(maps.Keys(packages)))
	p, err := load(registered, b, "")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func closureOf(t *testing.T, p *parsedProgram, symbol string) *Closure {
	t.Helper()
	c, err := p.identify(Function{Package: "x/calc", Symbol: symbol}, Declared{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const calc = `
// Area is what is requested.
func Area(r float64) float64 { return scale(r*r) * pi }

func scale(x float64) float64 { return x * factor }

const (
	factor = 2
	pi     = 3
)

func unrelated() int { return 1 }
`

func TestIdentityFollowsWhatIsReached(t *testing.T) {
	id := func(edit ...string) string {
		return closureOf(t, parsed(t, map[string]string{"x/calc": strings.NewReplacer(edit...).Replace(calc)}), "Area").ID.String()
	}
	before := id()
	for _, c := range []struct {
		name   string
		edit   []string
		change bool
	}{
		{"nothing", nil, false},
		{"a comment", []string{"requested", "wanted"}, false},
		{"layout", []string{"{ return scale(r*r) * pi }", "{\n\treturn scale(\n\t\tr*r,\n\t) * pi\n}"}, false},
		{"what is not reached", []string{"return 1", "return 2"}, false},
		{"its body", []string{"r*r", "r+r"}, true},
		{"a callee", []string{"x * factor", "x + factor"}, true},
		{"a constant", []string{"factor = 2", "factor = 4"}, true},
	} {
		if changed := id(c.edit...) != before; changed != c.change {
			t.Errorf("%s: changed %v", c.name, changed)
		}
	}
}

func TestPartsAreNamed(t *testing.T) {
	var names []string
	for _, p := range closureOf(t, parsed(t, map[string]string{"x/calc": calc}), "Area").Parts {
		if !strings.HasPrefix(p.Name, "build ") {
			names = append(names, p.Name)
		}
	}
	if got := strings.Join(names, ", "); got != "const x/calc.factor, const x/calc.pi, func x/calc.Area, func x/calc.scale" {
		t.Errorf("parts: %s", got)
	}
}

// TestBoundary checks that callers of a boundary keep their results when its body changes, and lose them when its
// version or signature changes.
func TestBoundary(t *testing.T) {
	text := "func Area(r float64) float64 { return solve(r) }\n\n// solve is stable.\n//\n//larder:version 1\nfunc solve(r float64) float64 { return r * deep() }\n\nfunc deep() float64 { return 2 }\n"
	id := func(edit ...string) string {
		return closureOf(t, parsed(t, map[string]string{"x/calc": strings.NewReplacer(edit...).Replace(text)}), "Area").ID.String()
	}
	if id() != id("r * deep()", "r + deep()") || id() != id("return 2", "return 3") {
		t.Error("a body behind a boundary counts")
	}
	if id() == id("version 1", "version 2") || id() == id("solve(r float64)", "solve(q float64)") {
		t.Error("the version or the signature of a boundary does not count")
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name, text string
		pure       []string
		want       string // in the refusal; "" for none
	}{
		{"the clock, three calls deep", "import (\n\t\"embed\"\n\t\"time\"\n)\n\nfunc Area() int { return one() }\n\nfunc one() int { return two() }\n\nfunc two() int { return time.Now().Day() }\n", nil,
			"x/calc.Area reaches time.Now (the clock) at x/calc/calc.go:12 (by way of x/calc.one -> x/calc.two)"},
		{"declared for the function", "import (\n\t\"embed\"\n\t\"time\"\n)\n\nfunc Area() int { return time.Now().Day() }\n", []string{"time.Now"}, ""},
		{"an allowed part of a package", "import (\n\t\"embed\"\n\t\"time\"\n)\n\nfunc Area(d time.Duration) string { return d.String() }\n", nil, ""},
		{"a module", "import (\n\t\"embed\"\n\n\t\"dep.org/known/sub\"\n)\n\nfunc Area() int { return sub.F() }\n", nil, "its module is unknown"},
		{"a module that is vouched for", "import (\n\t\"embed\"\n\n\t\"dep.org/known/sub\"\n)\n\nfunc Area() int { return sub.F() }\n", []string{"dep.org/known/..."}, ""},
		{"a package of its own", "import (\n\t\"embed\"\n\n\t\"x/hidden\"\n)\n\nfunc Area() int { return hidden.F() }\n", nil, "of a package that does not register its sources"},
		{"a counter", "import \"embed\"\n\nvar n int\n\nfunc Area() int { n++; return n }\n", nil, "package variable x/calc.n, which x/calc.Area writes while the program runs"},
		{"a table filled by init", "import \"embed\"\n\nvar n = map[string]int{}\n\nfunc init() { n[\"a\"] = 1 }\n\nfunc Area() int { return n[\"a\"] }\n", nil, ""},
		{"a table filled once", "import (\n\t\"embed\"\n\t\"sync\"\n)\n\nvar (\n\tonce sync.Once\n\tn int\n)\n\nfunc Area() int {\n\tonce.Do(func() { n = 3 })\n\treturn n\n}\n", nil, ""},
		{"code that cannot be understood is identified by the whole program", "import (\n\t\"embed\"\n\t\"unsafe\"\n)\n\nfunc Area(p *int) int { return *(*int)(unsafe.Pointer(p)) }\n", nil, ""},
		{"no body", "import \"embed\"\n\nfunc Area() int\n", nil, ""},
		{"cgo", "import \"embed\"\n\nimport \"C\"\n\nfunc Area() int { return int(C.f()) }\n", nil, `code that is not Go (import "C")`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := parsed(t, map[string]string{"x/calc": c.text}, c.pure...)
			_, err := p.identify(Function{Package: "x/calc", Symbol: "Area"}, Declared{})
			var refusal *RefusalError
			switch {
			case c.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.want != "" && (!errors.As(err, &refusal) || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
}

func TestUnknownFunctions(t *testing.T) {
	p := parsed(t, map[string]string{"x/calc": calc})
	if _, err := p.identify(Function{Package: "x/other", Symbol: "F"}, Declared{}); !errors.Is(err, ErrNotRegistered) {
		t.Errorf("another package: %v", err)
	}
	if _, err := p.identify(Function{Package: "x/calc", Symbol: "Gone"}, Declared{}); err == nil || !strings.Contains(err.Error(), "not in the registered sources") {
		t.Errorf("a function that is not there: %v", err)
	}
	for _, f := range []any{nil, 3, (func())(nil)} {
		if _, err := FunctionOf(f); err == nil {
			t.Errorf("%v is treated as a function", f)
		}
	}
}

func TestFunctionValues(t *testing.T) {
	k := 3
	for _, c := range []struct {
		name   string
		f      any
		symbol string
		state  bool
	}{
		{"function", zone, "zone", false},
		{"method expression", Function.Name, "Function.Name", false},
		{"method value", Function{}.Name, "Function.Name-fm", true},
		{"literal", func() int { return 1 }, "TestFunctionValues.func1", false},
		{"closure", func() int { k++; return k }, "TestFunctionValues.func2", true},
	} {
		f, err := FunctionOf(c.f)
		if err != nil || f.Package != "github.com/larder-data/larder/internal/codeid/analysis" || f.Symbol != c.symbol {
			t.Errorf("%s: %+v, %v", c.name, f, err)
		}
		if err := f.CheckState(); (err != nil) != c.state {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestTypeText(t *testing.T) {
	for v, want := range map[any]string{
		3: "int", &fstest.MapFile{}: "*testing/fstest.MapFile", [2]Part{}: "[2]github.com/larder-data/larder/internal/codeid/analysis.Part",
	} {
		if got := TypeText(reflect.TypeOf(v)); got != want {
			t.Errorf("%T: %s", v, got)
		}
	}
	if got := TypeText(reflect.TypeFor[func(context.Context, map[string][]Part) error]()); got != "func(context.Context,map[string][]github.com/larder-data/larder/internal/codeid/analysis.Part,)error," {
		t.Errorf("a function: %s", got)
	}
}
