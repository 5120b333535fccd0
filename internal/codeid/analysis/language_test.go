package analysis

import (
	"runtime/debug"
	"testing"
	"testing/fstest"
)

// TestVersionsOfTheLanguage checks that a program with an unknown language version is identified by its executable,
// because the meaning of sources depends on it.
func TestVersionsOfTheLanguage(t *testing.T) {
	const loop = "func Area() int { return Loop() }\n\nfunc Loop() (n int) {\n\tvar fs []func() int\n\tfor i := 0; i < 3; i++ {\n\t\tfs = append(fs, func() int { return i })\n\t}\n\treturn fs[0]()\n}\n"
	const pointers = "import \"unsafe\"\n\nfunc Area(p *int) int { return *(*int)(unsafe.Pointer(p)) }\n"
	sum := "dep@v1.0.0 h1:sum"
	for _, c := range []struct {
		name      string
		dep       module
		workspace bool
		text      string
		kind      Kind
		binary    bool // identified by the executable
	}{
		{"a loop in the program's own module", module{path: "dep", version: sum}, false, loop, Precise, false},
		{"a loop in a workspace", module{path: "dep", version: sum}, true, loop, Program, true},
		{"something else in a workspace", module{path: "dep", version: sum}, true, "func Area() int { return 1 }\n", Precise, false},
		{"the whole program", module{path: "dep", version: sum}, false, pointers, Program, false},
		{"the whole program, with a module in a directory", module{path: "dep"}, false, pointers, Program, true},
		{"the whole program, in a workspace", module{path: "dep", version: sum}, true, pointers, Program, true},
	} {
		b := thisBuild()
		b.tested, b.workspace, b.modules = "x/calc", c.workspace, []module{{path: "x", main: true}, c.dep}
		p, err := load([]*registration{
			{path: "x/calc", files: fstest.MapFS{"calc.go": {Data: []byte("package calc\n\nimport \"embed\"\n\n" + c.text + "\n//go:embed *.go\nvar files embed.FS\n")}}},
			{path: "dep", files: fstest.MapFS{"dep.go": {Data: []byte("package dep" + embedAll + "func F() int { return 1 }\n")}}},
		}, b, "")
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.identify(Function{Package: "x/calc", Symbol: "Area"}, Declared{})
		if err != nil {
			t.Fatal(err)
		}
		if binary := got.Parts[0].Name == "the executable"; got.Kind != c.kind || binary != c.binary {
			t.Errorf("%s: identified by %s, by the executable %v: %q", c.name, got.Kind, binary, got.Doubts)
		}
	}
}

func TestWorkspaces(t *testing.T) {
	own := debug.Module{Path: "x", Version: "(devel)"}
	lies := &debug.Module{Path: "dep", Version: "(devel)"}
	for _, c := range []struct {
		name string
		info debug.BuildInfo
		want bool
	}{
		{"a module of its own", debug.BuildInfo{Main: own, Deps: []*debug.Module{{Path: "dep", Version: "v1.0.0", Sum: "h1:sum"}}}, false},
		{"a replaced module", debug.BuildInfo{Main: own, Deps: []*debug.Module{{Path: "dep", Version: "v1.0.0", Replace: &debug.Module{Path: "../dep"}}}}, false},
		{"a module next to it", debug.BuildInfo{Main: own, Deps: []*debug.Module{lies}}, true},
		{"a list of files", debug.BuildInfo{Deps: []*debug.Module{lies}}, false},
		{"a list of files of two modules", debug.BuildInfo{Deps: []*debug.Module{lies, lies}}, true},
	} {
		if isWorkspace(&c.info) != c.want {
			t.Errorf("%s: %v", c.name, !c.want)
		}
	}
}
