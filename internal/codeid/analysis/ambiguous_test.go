package analysis

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/larder-data/larder/key"
)

type namesake struct{ X int }

func (namesake) String() string { return "the package's" }

type boxed[T any] struct{ V T }

// TestNamesakes checks that values of indistinguishable types have no key, and their functions no identity.
func TestNamesakes(t *testing.T) {
	registry.Lock()
	before := registry.packages
	registry.packages = append(slices.Clone(before), &registration{path: reflect.TypeFor[namesake]().PkgPath(), files: os.DirFS(".")})
	registry.Unlock()
	defer func() {
		registry.Lock()
		defer registry.Unlock()
		registry.packages = before
	}()
	outer := any(namesake{1})
	takesOuter := func(namesake) {}
	type namesake struct{ X int }
	type alone struct{ X int }
	for _, v := range []any{outer, namesake{1}, []any{outer}, map[string]any{"a": &namesake{1}}, struct{ F namesake }{}, boxed[alone]{}, []boxed[*alone]{}} {
		if _, err := key.Of(v); err == nil || !strings.Contains(err.Error(), "declare types outside of functions") {
			t.Errorf("%T: %v", v, err)
		}
	}
	for _, v := range []any{alone{1}, []any{alone{1}}, boxed[int]{}} {
		if _, err := key.Of(v); err != nil {
			t.Errorf("%T: %v", v, err)
		}
	}
	for _, f := range []any{takesOuter, func(map[string]*namesake) {}, func(int) []func(boxed[alone]) { return nil }} {
		if namesakeIn(reflect.TypeOf(f)) == nil {
			t.Errorf("%T accepts nothing that is ambiguous", f)
		}
	}
	if same := namesakeIn(reflect.TypeOf(func(alone, *fstest.MapFS) {})); same != nil {
		t.Error(same)
	}
}

func TestDeclaresNamesakes(t *testing.T) {
	for text, want := range map[string]bool{
		"type T struct{}": false,
		"type T struct{}\n\nfunc f(x any) bool { switch x.(type) { case T: return true }; return false }": false,
		"func f() {\n\ttype T struct{}\n}":                                                       false,
		"type T int\n\nfunc f() {\n\ttype T struct{}\n}":                                         true,
		"type (\n\tT int\n\tU int\n)\n\nfunc f() {\n\ttype (\n\t\tV int\n\t\tT struct{}\n\t)\n}": true,
		"func f() {\n\ttype T int\n}\n\nfunc g() {\n\ttype T int\n}":                             true,
		"func f() { type T int; { type T string } }":                                             true,
		"type T int\n\nfunc f() {\ntype T string\n}":                                             true,
		"type T int\n\nfunc f() {\ntype\nT string\n}":                                            true,
		"type T int\n\nvar v = func() { type\tT int }":                                           true,
		"type T int\n\nvar v = func() {type/* a */T int }":                                       true,
		"type T int\n\nfunc f() {\n\ttype U struct{}\n}":                                         false,
	} {
		p := &registration{path: "x/calc", files: fstest.MapFS{"a.go": {Data: []byte("package calc\n\n" + text + "\n")}}}
		if got := hasAny(p, "T"); got != want {
			t.Errorf("%s\n%v", text, got)
		}
		p.files = fstest.MapFS{"a.go": {Data: []byte("package calc\n")}, "a_test.go": {Data: []byte("package calc\n\n" + text + "\n")}}
		if hasAny(p, "T") {
			t.Errorf("%s\ncounts in a test", text)
		}
	}
}

func hasAny(p *registration, name string) bool { return new(namesakes).has(p, name) }

// TestNumbersOfTypes checks that the whole program counts where the compiler's number of a type may be visible.
func TestNumbersOfTypes(t *testing.T) {
	for text, want := range map[string]Kind{
		`type g[T any] struct{ v T }; func Area() string { type l int; return fmt.Sprintf("%T", g[l]{}) }`:                   Program,
		`type g[T any] struct{ v T }; func Area() string { type l int; return fmt.Sprintf("%T", map[string]*g[[]l]{}) }`:     Program,
		`func name[T any](v T) string { return fmt.Sprintf("%T", v) }; func Area() string { type l int; return name(l(1)) }`: Program,
		`func Area() string { type l int; return fmt.Sprintf("%T", slices.Values([]l{1})) }`:                                 Program,
		`func Area() string { type l int; s := []l{2, 1}; slices.Sort(s); return fmt.Sprintf("%T %v", s, slices.Max(s)) }`:   Precise,
		`type l int; type g[T any] struct{ v T }; func Area() string { return fmt.Sprintf("%T", g[l]{}) }`:                   Precise,
		`type g[T any] struct{ v T }; func Area() string { type l int; return fmt.Sprintf("%T", g[int]{}) }`:                 Precise,
	} {
		whole := "package calc\n\nimport (\n\"embed\"\n\"fmt\"\n\"slices\"\n)\n\nvar _ = slices.Max[[]int]\n\n" + text + "\n\n//go:embed *.go\nvar files embed.FS\n"
		c, err := parsedText(t, map[string]string{"x/calc": whole}).identify(Function{Package: "x/calc", Symbol: "Area"}, Declared{})
		if err != nil || c.Kind != want {
			t.Errorf("%s\n%v, %v", text, c, err)
		}
	}
}

// TestPragmas checks that compiler directives count.
func TestPragmas(t *testing.T) {
	identity := func(text string) key.Digest { return identityOf(t, nil, map[string]string{"x/calc": text}).ID }
	plain := identity("func extra(s string) []byte { return []byte(s) }\n\nfunc Area() int { return cap(extra(`a`)) }\n")
	for _, text := range []string{
		"//go:noinline\nfunc extra(s string) []byte { return []byte(s) }\n\nfunc Area() int { return cap(extra(`a`)) }\n",
		"func extra(s string) []byte { return []byte(s) }\n\n//go:noinline\n\n// Area is one.\nfunc Area() int { return cap(extra(`a`)) }\n",
	} {
		if identity(text) == plain {
			t.Errorf("it does not count:\n%s", text)
		}
	}
	for _, text := range []string{
		"// extra is one.\n//go:generate echo\nfunc extra(s string) []byte { return []byte(s) }\n\nfunc Area() int { return cap(extra(`a`)) }\n",
		"func extra(s string) []byte { return []byte(s) }\n\nfunc Area() int { return cap(extra(`a`)) }\n\n//go:noinline\nfunc other() {}\n",
	} {
		if identity(text) != plain {
			t.Errorf("it counts:\n%s", text)
		}
	}
}
