package analysis

import (
	"go/token"
	"go/types"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/tiff"
	"io/fs"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/larder-data/larder/internal/codeid/std"
)

// identityOf returns the identity of x/calc.Area, as if it were a function of f's type, in a program of packages of one
// file each.
func identityOf(t *testing.T, f any, packages map[string]string) *Closure {
	t.Helper()
	whole := map[string]string{}
	for path, text := range packages {
		name := path[strings.LastIndexByte(path, '/')+1:]
		whole[path] = "package " + name + "\n\nimport \"embed\"\n" + strings.ReplaceAll(text, "IMPORT ", "import ") + "\n\n//go:embed *.go\nvar files embed.FS\n"
	}
	fn := Function{Package: "x/calc", Symbol: "Area"}
	if f != nil {
		fn.typ = reflect.TypeOf(f)
	}
	c, err := parsedText(t, whole).identify(fn, Declared{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Kind != Precise {
		t.Fatalf("not precise: %q", c.Doubts)
	}
	return c
}

// A change is an edit of x/calc, and whether Area's identity changes with it.
type change struct {
	name     string
	from, to string
	counts   bool
}

func tryChanges(t *testing.T, f any, text string, changes []change) {
	t.Helper()
	before := identityOf(t, f, map[string]string{"x/calc": text}).ID
	for _, c := range changes {
		edited := strings.Replace(text, c.from, c.to, 1)
		if edited == text {
			t.Fatalf("%s: %q is not there", c.name, c.from)
		}
		if after := identityOf(t, f, map[string]string{"x/calc": edited}).ID; (after != before) != c.counts {
			t.Errorf("%s: changed %v", c.name, after != before)
		}
	}
}

func TestMethodSets(t *testing.T) {
	tryChanges(t, nil, `
IMPORT "fmt"

type namer interface{ name() string }

type base struct{ n int }

func (b base) name() string { return "base" }

func (b base) size() int { return b.n }

func (b base) unused() int { return 1 }

func (b base) GoString() string { return "go" }

type box struct{ base }

type bystander struct{ n int }

func (b bystander) name() string { return "bystander" }

func Area(n int) string {
	b := box{base{n}}
	if x, ok := any(b).(namer); ok {
		return x.name() + fmt.Sprint(b, b.size())
	}
	return "none"
}
`, []change{
		{"a promoted method by an interface", `"base"`, `"b"`, true},
		{"a method by its name", "return b.n", "return b.n + 1", true},
		{"the body of a method that fmt looks for", `"go"`, `"Go"`, true},
		{"the body of a method that no code calls", "return 1", "return 2", false},
		{"the type of a method that no code calls", "unused() int { return 1 }", "unused() int8 { return 1 }", true},
		{"a method that fmt looks for", "type box", "func (b box) String() string { return \"\" }\n\ntype box", true},
		{"a promoted method is hidden", "type box", "func (b box) name() string { return \"box\" }\n\ntype box", true},
		{"a promoted method that fmt looks for", "func (b base) unused", "func (b base) Error() string { return \"\" }\n\nfunc (b base) unused", true},
		{"a method of a type that is not reached", `"bystander"`, `"onlooker"`, false},
	})
}

// TestMethodsOfWhatNoInterfaceHolds checks that types that are never converted to an interface cannot be called through
// one.
func TestMethodsOfWhatNoInterfaceHolds(t *testing.T) {
	tryChanges(t, nil, `
IMPORT "fmt"

type point struct{ x int }

func (p point) String() string { return "point" }

type pair struct{ a point }

func Area(n int) string { return fmt.Sprint(point{n}.x) }
`, []change{
		{"a method that fmt would look for", `"point"`, `"p"`, false},
		{"it is printed now", "point{n}.x", "point{n}", true},
	})
}

func TestWhatComesInByInterfaces(t *testing.T) {
	type shape interface{ Edge() int }
	text := `
IMPORT "time"

type shape interface{ Edge() int }

type square struct{ n int }

func (s square) Edge() int { return s.n }

type other struct{ n int }

func (o other) Side() int { return o.n }

type late struct{}

func (late) Edge() int { return time.Now().Year() }

var all = []any{square{}, other{}, late{}}

func Area(s shape) int { return s.Edge() }
`
	tryChanges(t, func(shape) int { return 0 }, text, []change{
		{"a type that fits", "return s.n", "return 2 * s.n", true},
		{"one that does not", "return o.n", "return 2 * o.n", false},
		{"one that fits now", "Side() int", "Edge() int", true},
	})
	c := identityOf(t, func(shape) int { return 0 }, map[string]string{"x/calc": text})
	if why := c.ForbiddenTypes["x/calc.late"]; len(c.ForbiddenTypes) != 1 || !strings.Contains(why, "time.Now") {
		t.Errorf("forbidden: %v", c.ForbiddenTypes)
	}
	if c := identityOf(t, func(int) int { return 0 }, map[string]string{"x/calc": text}); len(c.ForbiddenTypes) != 0 {
		t.Errorf("forbidden where nothing comes in: %v", c.ForbiddenTypes)
	}
}

// TestWhatComesInAsAny checks that an any argument may hold any type, and that type assertions on it count.
func TestWhatComesInAsAny(t *testing.T) {
	tryChanges(t, func(any) string { return "" }, `
IMPORT "fmt"

type square struct{ n int }

func (s square) String() string { return "square" }

func (s square) edge() int { return s.n }

var all = []any{square{}}

func Area(v any) string { return fmt.Sprint(v) }
`, []change{
		{"what fmt looks for", `"square"`, `"s"`, true},
		{"what no code looks for", "return s.n", "return 2 * s.n", false},
	})
}

type forbiddenShape struct{ N int }

func TestBarredValues(t *testing.T) {
	c := Closure{ForbiddenTypes: map[string]string{"github.com/larder-data/larder/internal/codeid/analysis.forbiddenShape": "time.Now (the clock)"}}
	type holder struct{ list []any }
	for _, v := range []any{forbiddenShape{}, &forbiddenShape{}, []any{1, forbiddenShape{}}, map[string]any{"a": &forbiddenShape{}}, holder{[]any{forbiddenShape{}}}} {
		if err := c.CheckValue(v); err == nil || !strings.Contains(err.Error(), "time.Now") {
			t.Errorf("%T: %v", v, err)
		}
	}
	deep, wide := any(forbiddenShape{}), any(forbiddenShape{})
	for range 5000 {
		deep = &holder{[]any{deep}}
	}
	for range 60 { // 2^60 ways
		wide = []any{wide, wide}
	}
	for _, v := range []any{deep, wide} {
		if err := c.CheckValue(v); err == nil || !strings.Contains(err.Error(), "time.Now") {
			t.Error(err)
		}
	}
	wide = any(nil)
	for range 60 {
		wide = []any{wide, wide}
	}
	if err := c.CheckValue(wide); err != nil {
		t.Error(err)
	}
	modules := Closure{ForbiddenTypes: map[string]string{ofModules: "code of a module"}, Trusted: []string{"golang.org/x/image/tiff/..."}}
	type box[T any] struct{}
	for _, v := range []any{fixed.Int26_6(1), []fixed.Int26_6{1}, holder{[]any{fixed.I(1)}}, map[any]int{fixed.Point26_6{}: 1}, box[fixed.Int26_6]{}} {
		if err := modules.CheckValue(v); err == nil || !strings.Contains(err.Error(), "code of a module") {
			t.Errorf("%T: %v", v, err)
		}
	}
	for _, v := range []any{forbiddenShape{}, time.Second, []any{big.NewInt(1)}, tiff.FormatError(""), box[forbiddenShape]{}} {
		if err := modules.CheckValue(v); err != nil {
			t.Errorf("%T: %v", v, err)
		}
	}
	type loop struct{ next *loop }
	l := &loop{}
	l.next = l
	for _, v := range []any{1, "a", nil, []int{1}, holder{[]any{2}}, l} {
		if err := c.CheckValue(v); err != nil {
			t.Errorf("%T: %v", v, err)
		}
	}
}

func TestTimeZone(t *testing.T) {
	text := `
IMPORT "time"

func Area(n int64) int { return time.Unix(n, 0).UTC().Hour() }
`
	t.Setenv("TZ", "Asia/Tokyo")
	tokyo := identityOf(t, nil, map[string]string{"x/calc": text}).ID
	t.Setenv("TZ", "Europe/Rome")
	if identityOf(t, nil, map[string]string{"x/calc": text}).ID == tokyo {
		t.Error("the time zone of the machine does not count")
	}
	if without := `func Area(n int) int { return n }`; identityOf(t, nil, map[string]string{"x/calc": without}).Parts[0].Name == "module time zone" {
		t.Error("it counts where time is not reached")
	}
}

func TestRegistries(t *testing.T) {
	calc := `
IMPORT (
	"image"
	"io"
	_ "image/png"
)

func Area(r io.Reader) int {
	m, _, err := image.Decode(r)
	if err != nil {
		return 0
	}
	return m.Bounds().Dx()
}
`
	codec := `
IMPORT (
	"image"
	"image/color"
	"io"
)

func init() { register() }

func register() { image.RegisterFormat("x", "X", decode, config) }

func decode(io.Reader) (image.Image, error) { return image.NewUniform(color.Black), nil }

func config(io.Reader) (image.Config, error) { return image.Config{Width: 1}, nil }
`
	id := func(calc, codec string) string {
		return identityOf(t, nil, map[string]string{"x/calc": calc, "x/codec": codec}).ID.String()
	}
	before := id(calc, codec)
	if id(strings.Replace(calc, `"image/png"`, `"image/gif"`, 1), codec) == before {
		t.Error("a decoder that is imported does not count")
	}
	if id(calc, strings.Replace(codec, "color.Black", "color.White", 1)) == before {
		t.Error("a decoder that a helper of init registers does not count")
	}
	if id(calc, strings.Replace(codec, `"io"`, "\"io\"\n\t_ \"image/jpeg\"", 1)) == before {
		t.Error("a decoder that another package imports does not count")
	}
}

// TestEngine checks that functions that call Larder depend on its sources if it is built from a directory.
func TestEngine(t *testing.T) {
	text := map[string]string{
		"x/calc":        "package calc\n\nimport (\n\t\"context\"\n\t\"embed\"\n\n\t\"github.com/larder-data/larder/key\"\n)\n\n//go:embed *.go\nvar files embed.FS\n\nfunc Area(ctx context.Context) key.Digest { return key.DigestOf(nil) }\n",
		engine + "/key": "package key\n\nimport \"embed\"\n\n//go:embed *.go\nvar files embed.FS\n\ntype Digest [32]byte\n\nfunc DigestOf(b []byte) Digest { return Digest{} }\n\nfunc DigestFile(name string) Digest { return Digest{} }\n",
	}
	id := func() string {
		c, err := parsedText(t, text).identify(Function{Package: "x/calc", Symbol: "Area"}, Declared{})
		if err != nil {
			t.Fatal(err)
		}
		return c.ID.String()
	}
	before := id()
	text[engine+"/key"] = strings.Replace(text[engine+"/key"], "Digest{} }", "Digest{1} }", 1)
	if id() == before {
		t.Error("an edit of Larder does not count")
	}
	text["x/calc"] = strings.Replace(text["x/calc"], "key.DigestOf(nil)", `key.DigestFile("x")`, 1)
	if _, err := parsedText(t, text).identify(Function{Package: "x/calc", Symbol: "Area"}, Declared{}); err == nil || !strings.Contains(err.Error(), "the file system") {
		t.Errorf("a file that is read by Larder without a record: %v", err)
	}
}

// TestWholeProgram checks that code that cannot be analyzed makes the whole program identify the function, with the
// reason.
func TestWholeProgram(t *testing.T) {
	text := map[string]string{
		"x/calc":  "package calc\n\nimport (\n\t\"embed\"\n\t\"unsafe\"\n)\n\n//go:embed *.go\nvar files embed.FS\n\nfunc Area(n int) int { return *(*int)(unsafe.Pointer(&n)) }\n",
		"x/other": "package other\n\nimport \"embed\"\n\n//go:embed *.go\nvar files embed.FS\n\nfunc Unrelated() int { return 1 }\n",
	}
	id := func() *Closure {
		c, err := parsedText(t, text).identify(Function{Package: "x/calc", Symbol: "Area"}, Declared{})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	before := id()
	if before.Kind != Program || len(before.Doubts) != 1 || !strings.Contains(before.Doubts[0], "unsafe.Pointer (memory without types) at x/calc/calc.go:11") || !strings.Contains(before.Doubts[0], "//larder:version") {
		t.Errorf("%v %q", before.Kind, before.Doubts)
	}
	text["x/calc"] = strings.Replace(text["x/calc"], "func Area(n int) int {", "func Area(n int) int { return peek(n) }\n\n// peek looks.\n//\n//larder:version 1\nfunc peek(n int) int {", 1)
	if c := id(); c.Kind != Precise {
		t.Errorf("a version for what is not understood does not help: %q", c.Doubts)
	}
	text["x/calc"] = strings.Replace(text["x/calc"], "//larder:version 1\n", "", 1)
	before = id()
	if id().ID != before.ID {
		t.Error("the identity changes though nothing was edited")
	}
	text["x/other"] = strings.Replace(text["x/other"], "return 1", "return 2", 1)
	if id().ID == before.ID {
		t.Error("an edit of another package does not count")
	}
}

// TestUnknownToTheTable checks that functions missing in the table of the standard library may do anything.
func TestUnknownToTheTable(t *testing.T) {
	w := &walker{program: &parsedProgram{build: thisBuild()}, forbidden: map[string]string{}, from: map[*decl]*decl{}}
	d := &decl{file: &file{pkg: &pkg{path: "x/calc"}, fset: token.NewFileSet()}, kind: "func", names: []string{"Area"}}
	f := types.NewFunc(0, types.NewPackage("strings", "strings"), "Fabricate", types.NewSignatureType(nil, nil, nil, nil, nil, false))
	w.from[d] = nil
	w.refuse(d, problem{})
	w.doubts = nil
	w.program.packages = map[string]*pkg{}
	w.library(d, leaf{path: "strings", name: "Fabricate", library: true, object: f})
	if len(w.reasons) != 1 || !strings.Contains(w.reasons[0], "strings.Fabricate (its effects are unknown)") {
		t.Errorf("reasons: %q", w.reasons)
	}
}

// TestNamesStandForDeclarations checks that renaming an import does not change a function's identity.
func TestNamesStandForDeclarations(t *testing.T) {
	calc := "IMPORT geometry \"x/flat\"\n\nfunc Area(n int) int { return geometry.Size(n) }\n"
	packages := map[string]string{"x/calc": calc, "x/flat": "func Size(n int) int { return n }\n", "x/round": "func Size(n int) int { return n }\n"}
	before := identityOf(t, nil, packages)
	packages["x/calc"] = strings.Replace(calc, "x/flat", "x/round", 1)
	after := identityOf(t, nil, packages)
	area := func(c *Closure) Part {
		for _, p := range c.Parts {
			if p.Name == "func x/calc.Area" {
				return p
			}
		}
		t.Fatal("the function is not a part of its closure")
		return Part{}
	}
	if area(before).Digest == area(after).Digest {
		t.Error("the function is the same though it calls another one")
	}
}

// TestMethodsOfWhatReflectionGives checks methods called on values that reflection and templates return.
func TestMethodsOfWhatReflectionGives(t *testing.T) {
	tryChanges(t, nil, `
IMPORT (
	"fmt"
	"reflect"
	"strings"
	"text/template"
)

type a struct{}

type b struct{}

func (a) B() b { return b{} }

func (b) C() string { return "1" }

type c struct{}

func (c) String() string { return "c" }

func mk() c { return c{} }

type d struct{}

func (d) String() string { return "d" }

func (a) D() d { return d{} }

var text = template.Must(template.New("").Funcs(template.FuncMap{"mk": mk}).Parse("{{.B.C}}{{mk}}"))

func Area(n int) string {
	var s strings.Builder
	_ = text.Execute(&s, a{})
	return s.String() + fmt.Sprint(reflect.ValueOf(a{}).Method(1).Call(nil)[0].Interface())
}
`, []change{
		{"of a template's value", `return "1"`, `return "2"`, true},
		{"of a template's function", `return "c"`, `return "C"`, true},
		{"of what a method gives", `return "d"`, `return "D"`, true},
	})
}

// TestWhatComesInByEmbedding checks a type that has all methods of an interface only through several embedded types.
func TestWhatComesInByEmbedding(t *testing.T) {
	type shape interface {
		Edge() int
		Name() string
	}
	tryChanges(t, func(shape) int { return 0 }, `
type shape interface {
	Edge() int
	Name() string
}

type edged struct{ n int }

func (e edged) Edge() int { return e.n }

type named struct{ s string }

func (n named) Name() string { return n.s }

type both struct {
	edged
	named
}

var all = []any{both{}}

func Area(s shape) int { return s.Edge() + len(s.Name()) }
`, []change{
		{"a method that is promoted", "return e.n", "return 2 * e.n", true},
		{"another one", "return n.s", `return n.s + "!"`, true},
	})
}

func TestKnownReleases(t *testing.T) {
	for version, want := range map[string]bool{
		std.Go: true, std.Go + ".8": true, std.Go + "rc1": false, std.Go + "-custom": true, "go1.2": false, "go1.260.1": false, "devel go1.99-abc": false,
	} {
		if knownRelease(version) != want {
			t.Errorf("%s: %v", version, !want)
		}
	}
}

// TestFailuresAreContained checks that after a failure of Larder itself, in any of its goroutines, the executable
// identifies functions.
func TestFailuresAreContained(t *testing.T) {
	p, err := load([]*registration{{path: "own/good", files: fstest.MapFS{"a.go": {Data: []byte("package good\n\nfunc F() int { return 1 }\n")}}}, {path: "own/bad", files: failing{}}}, thisBuild(), "")
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.identify(Function{Package: "own/good", Symbol: "F"}, Declared{})
	if err == nil || !strings.Contains(err.Error(), "out of order") || !strings.Contains(err.Error(), "Version") {
		t.Errorf("identified by %+v: %v", c, err)
	}
}

// failing are files that panic when they are opened.
type failing struct{}

func (failing) Open(string) (fs.File, error) { panic("out of order") }
