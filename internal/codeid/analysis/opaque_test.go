package analysis

import (
	"strings"
	"testing"

	"github.com/larder-data/larder/codeid"
)

// TestCodeThatIsNotSeen checks that unregistered code may write its arguments, and that its results may do anything.
// Each case is a package with a function Area, in a program with such a package, "x/u", or such a module,
// "dep.org/known".
func TestCodeThatIsNotSeen(t *testing.T) {
	for _, c := range []struct {
		name, text string
		refused    string // words of the refusal; "" for none
	}{
		{"handed over", `IMPORT "x/u"; var v = new(int); func Tune() { u.W(v) }; func Area() int { return *v }`, "x/u.W"},
		{"handed to a module", `IMPORT "dep.org/known"; var v = new(int); func Tune() { known.W(v) }; func Area() int { return *v }`, "dep.org/known.W"},
		{"handed over by address", `IMPORT "x/u"; var v int; func Tune() { u.W(&v) }; func Area() int { return v }`, "x/u.W"},
		{"handed to a method", `IMPORT "x/u"; var v = new(int); func Tune(x u.T) { x.W(v) }; func Area() int { return *v }`, "not registered"},
		{"handed to a function in a map", `IMPORT "x/u"; var v = []int{1}; func Tune() { u.Fs["w"](v) }; func Area() int { return v[0] }`, "not registered"},
		{"handed over later", `IMPORT "x/u"; var v = []int{1}; func Tune() { defer u.W(v) }; func Area() int { return v[0] }`, "x/u.W"},
		{"handed over as elements", `IMPORT "x/u"; var v = []*int{new(int)}; func Tune() { u.W(v...) }; func Area() int { return *v[0] }`, "x/u.W"},
		{"handed over in a value of another type", `IMPORT "x/u"; var v = []int{1}; func Tune() { u.W(u.S{v}) }; func Area() int { return v[0] }`, "x/u.W"},
		{"handed over by a function that is passed", `IMPORT "x/u"; var v = new(int); func Tune() { u.Do(func() *int { return v }) }; func Area() int { return *v }`, "x/calc.v"},
		{"put there", `IMPORT "x/u"; var v = []int{1}; func Tune() { u.G = v }; func Area() int { return v[0] }`, "x/calc.v"},
		{"to a type behind an interface", `IMPORT "dep.org/known"; type i interface{ Visit([]int) }; var v = []int{1}; func Tune() { var x i = known.X{}; x.Visit(v) }; func Area() int { return v[0] }`, "Visit"},
		{"to a type behind an interface, taken from another", `IMPORT "dep.org/known"; type i interface{ Visit([]int) }; var v = []int{1}; func Tune() { var x any = known.X{}; x.(i).Visit(v) }; func Area() int { return v[0] }`, "Visit"},
		{"to a type that is embedded", `IMPORT "dep.org/known"; type i interface{ Visit([]int) }; type s struct{ known.X }; var v = []int{1}; func Tune() { var x i = s{}; x.Visit(v) }; func Area() int { return v[0] }`, "Visit"},
		{"to a type argument", `IMPORT "dep.org/known"; func do[T interface{ Visit([]int) }](x T) { x.Visit(v) }; var v = []int{1}; func Tune() { do(known.X{}) }; func Area() int { return v[0] }`, "Visit"},
		{"to a type that only a package may bring", `IMPORT "x/u"; type I interface{ Visit([]int) }; var v = []int{1}; func Tune(x I) { x.Visit(v) }; func Area() int { return u.N + v[0] }`, "Visit"},
		{"not handed over", `IMPORT "dep.org/known"; var v = []int{1}; func Tune() { known.W(len(v), v[0]) }; func Area() int { return v[0] }`, ""},
		{"an interface that modules know nothing of", `IMPORT "dep.org/known"; type i interface{ visit([]int) int }; type s struct{}; func (s) visit(l []int) int { return l[0] }; var v = []int{1}; func Tune() error { return known.W() }; func Area() int { var x i = s{}; return x.visit(v) }`, ""},
		{"a context that is printed", `IMPORT "context"; IMPORT "fmt"; func Area(ctx context.Context) string { return fmt.Sprint(ctx) }`, "context"},
		{"a context that is requested its text", `IMPORT "context"; IMPORT "fmt"; func Area(ctx context.Context) string { return ctx.(fmt.Stringer).String() }`, "context"},
		{"a context in a list", `IMPORT "context"; IMPORT "fmt"; func Area(ctx context.Context) string { l := []any{ctx}; return fmt.Sprint(l...) }`, "context"},
		{"a context that is passed on", `IMPORT "context"; func sub(ctx context.Context) error { return ctx.Err() }; func Area(ctx context.Context) error { c, cancel := context.WithCancel(ctx); defer cancel(); return sub(c) }`, ""},
		{"where what is logged goes", `IMPORT "log"; IMPORT "os"; func Area() bool { return log.Writer() == os.Stderr }`, "log.Writer"},
	} {
		t.Run(c.name, func(t *testing.T) { testVariable(t, c.text, c.refused) })
	}
}

// TestMadeOfInputs checks that values computed from an input at startup, or once, are not identified by the later value
// of the input.
func TestMadeOfInputs(t *testing.T) {
	const head = `package calc

import (
	"embed"
	"sync"

	"github.com/larder-data/larder/codeid"
)

//go:embed *.go
var files embed.FS

var _ = codeid.Register(files, codeid.Options{Inputs: []any{&Rate}})

var Rate = 3
var once sync.Once
`
	rate := 3
	for _, c := range []struct{ name, text, refused string }{
		{"read", "func Area() int { return Rate }", ""},
		{"read by what is called", "func twice() int { return 2 * Rate }\nfunc Area() int { return twice() }", ""},
		{"another's start", "var w = Rate + 1\nfunc Area() int { return w }", "x/calc.w"},
		{"another's start, by a function", "var w = twice()\nfunc twice() int { return 2 * Rate }\nfunc Area() int { return w }", "x/calc.w"},
		{"another's start, by init", "var w int\nfunc init() { w = Rate }\nfunc Area() int { return w }", "x/calc.w"},
		{"what is done once", "var w int\nfunc get() int { once.Do(func() { w = Rate })\nreturn w }\nfunc Area() int { return get() }", "x/calc.w"},
		{"what a function does once", "var w int\nfunc fill() { w = Rate }\nfunc get() int { once.Do(fill)\nreturn w }\nfunc Area() int { return get() }", "x/calc.w"},
		{"read next to what is done once", "var w int\nfunc get() int { once.Do(func() { w = 7 })\nreturn w * Rate }\nfunc Area() int { return get() }", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := parsedText(t, map[string]string{
				"x/calc":           head + c.text + "\n",
				engine + "/codeid": "package codeid\n\ntype Options struct{ Inputs []any }\n\nfunc Register(any, ...Options) int { return 0 }\n",
			})
			if err := p.declareInputs([]*registration{{path: "x/calc", options: codeid.Options{Inputs: []any{&rate}}}}); err != nil {
				t.Fatal(err)
			}
			_, err := p.identify(Function{Package: "x/calc", Symbol: "Area"}, Declared{})
			switch {
			case c.refused == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused+", which is computed from an earlier value of the input x/calc.Rate")):
				t.Errorf("not refused for that: %v", err)
			}
		})
	}
}

// TestWhatIsBorrowed checks that Larder copies arguments and results, except values that hold functions.
func TestWhatIsBorrowed(t *testing.T) {
	const head = `package calc

import (
	"embed"

	"github.com/larder-data/larder/lazy"
)

//go:embed *.go
var files embed.FS

type list struct{ n []int }
type row struct {
	n []int
	f func()
}

var l, r = &list{}, &row{}

func lists(int) *list { return l }
func rows(int) *row { return r }
`
	for _, c := range []struct{ name, text, refused string }{
		{"given, and copied", "var x = lazy.Of(l)\nfunc Area() int { return len(l.n) }", ""},
		{"returned, and copied", "var x = lazy.Func(lists)\nfunc Area() int { return len(l.n) }", ""},
		{"given", "func Give() { lazy.Of(r) }\nfunc Area() int { return len(r.n) }", "x/calc.r"},
		{"returned", "var x = lazy.Func(rows)\nfunc Area() int { return len(r.n) }", "x/calc.r"},
		{"returned by a literal", "var x = lazy.Func(func(int) *row { return r })\nfunc Area() int { return len(r.n) }", "x/calc.r"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := parsedText(t, map[string]string{
				"x/calc":         head + c.text + "\n",
				engine + "/lazy": "package lazy\n\nfunc Of[T any](T) int { return 0 }\n\nfunc Func[R any](func(int) R) int { return 0 }\n",
			})
			_, err := p.identify(Function{Package: "x/calc", Symbol: "Area"}, Declared{})
			if c.refused == "" && err != nil || c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
				t.Errorf("wanted to be refused for %q: %v", c.refused, err)
			}
		})
	}
}

// TestCapturedCodeThatIsNotSeen checks that captured values, or arguments of the enclosing function, may hold a type of
// a module without visible sources, as parameters may.
func TestCapturedCodeThatIsNotSeen(t *testing.T) {
	const text = `package calc

import (
	"dep.org/known"
	"embed"
)

//go:embed *.go
var files embed.FS

type Shape interface{ Area() int }

type Sized interface{ size() int }

func Of(s Shape, z Sized) func() int {
	return func() int {
		return s.Area()
	}
}

func Sizes(z Sized) func() int {
	return func() int {
		return z.size()
	}
}

var Any Shape = known.X{}
`
	for line, mayBe := range map[int]bool{16: true, 22: false} {
		identify := func(by Declared) (*Closure, error) {
			p := parsedText(t, map[string]string{"x/calc": text})
			return p.identify(Function{Package: "x/calc", Symbol: "Of.func1", File: "calc.go", Line: line}, by)
		}
		if c, err := identify(Declared{Captured: []string{"s", "z"}}); err != nil || c.Kind != Precise || (c.ForbiddenTypes[ofModules] != "") != mayBe {
			t.Errorf("line %d, captured: %v, %v; such types may come in: %v", line, c, err, mayBe)
		}
		if c, err := identify(Declared{Maker: true}); (err != nil) != mayBe {
			t.Errorf("line %d, of a maker: %v, %v; such types may come in: %v", line, c, err, mayBe)
		}
	}
}
