package analysis

import (
	"strings"
	"testing"
)

// TestCapturedVariables checks that captured variables of a maker's literal keep their values, or the maker is refused.
// Each case is a package in which FUNC represents the func of the literal.
func TestCapturedVariables(t *testing.T) {
	for _, c := range []struct {
		name, text string
		refused    string // words of the refusal; "" for none
	}{
		// Values that stay the same.
		{"a number", `func Of(n int) func() int { n = 2 * n; k := n + 1; return FUNC() int { return n + k } }`, ""},
		{"what is computed in steps", `func Of(n int) func() int { k := 0; for i := range n { k += i }; if k > 3 { k = 3 }; return FUNC() int { return k } }`, ""},
		{"a table", `func Of(n int) func() int { m := map[int]int{}; for i := range n { m[i] = i }; return FUNC() int { return m[2] } }`, ""},
		{"a table that another function makes", `func table(n int) map[int]int { m := map[int]int{}; m[1] = n; return m }; func Of(n int) func() int { m := table(n); return FUNC() int { return m[1] } }; func Other() int { m := table(3); return len(m) }`, ""},
		{"a table that a method fills", `type table struct{ m map[string]int }; func (t *table) add(s string) { t.m[s]++ }; func (t *table) at(s string) int { return t.m[s] }; func Of(l []string) func() int { t := &table{map[string]int{}}; for _, s := range l { t.add(s) }; return FUNC() int { return t.at("a") } }`, ""},
		{"a receiver whose fields get defaults", `type conf struct{ n int; names []string }; func (c conf) Of() func() int { if c.n == 0 { c.n = 3 }; return FUNC() int { return c.n + len(c.names) } }`, ""},
		{"what it is given, which others make", `type conf struct{ names []string }; func Of(c *conf) func() int { names := c.names; return FUNC() int { return len(names) + len(c.names) } }; func Use() { c := &conf{}; c.names = []string{"a"}; Of(c); c.names[0] = "b" }`, ""},
		{"a regular expression", `IMPORT "regexp"; func Of(s string) func() bool { re := regexp.MustCompile(s); return FUNC() bool { return re.MatchString("a") } }`, ""},
		{"a replacer and a lock", `IMPORT "strings"; IMPORT "sync"; func Of() func() string { r := strings.NewReplacer("a", "b"); var mu sync.Mutex; return FUNC() string { mu.Lock(); defer mu.Unlock(); return r.Replace("a") } }`, ""},
		{"a sorted list", `IMPORT "slices"; func Of(l []string) func() bool { l = slices.Clone(l); slices.Sort(l); return FUNC() bool { _, ok := slices.BinarySearch(l, "a"); return ok } }`, ""},
		{"a function", `func double(n int) int { return 2 * n }; func Of() func() int { f := double; return FUNC() int { return f(2) } }`, ""},
		{"one that calls itself", `func Of() func() int { var f func(n int) int; f = FUNC(n int) int { if n == 0 { return 1 }; return n * f(n-1) }; return func() int { return f(3) } }`, ""},
		{"what is copied and then written", `func Of(l []int) func() int { k := 1; return FUNC() int { c := append([]int(nil), l...); c[0] = k; k := 2; k++; return c[0] + k } }`, ""},
		{"one of a value that starts the program", `var Of = func() func() int { n := 3; return FUNC() int { return n } }()`, ""},
		{"behind an interface of its own", `type shape interface{ area() int }; type sq struct{ n int }; func (s *sq) area() int { return s.n }; func Of(n int) func() int { var s shape = &sq{n}; return FUNC() int { return s.area() } }`, ""},

		// The literal writes.
		{"a counter", `func Of() func() int { n := 0; return FUNC() int { n++; return n } }`, "captured variable x/calc.n, which x/calc.Of writes after it was captured"},
		{"a parameter that counts", `func Of(n int) func() int { return FUNC() int { n++; return n } }`, "which x/calc.Of writes"},
		{"what it is given", `func Of(m map[int]int) func() int { return FUNC() int { m[1]++; return m[1] } }`, "which x/calc.Of writes"},
		{"what it is given, by a name of its own", `type conf struct{ n []int }; func (c conf) Of() func() int { l := c.n; return FUNC() int { l[0]++; return l[0] } }`, "which x/calc.conf.Of writes"},
		{"a memo", `func Of() func(int) int { m := map[int]int{}; return FUNC(n int) int { if m[n] == 0 { m[n] = len(m) }; return m[n] } }`, "which x/calc.Of writes"},
		{"by a method", `type c struct{ n int }; func (c *c) next() int { c.n++; return c.n }; func Of() func() int { k := &c{}; return FUNC() int { return k.next() } }`, "which x/calc.c.next writes"},
		{"by a method of a variable", `type c struct{ n int }; func (c *c) next() int { c.n++; return c.n }; func Of() func() int { var k c; k.next(); return FUNC() int { return k.next() } }`, "which x/calc.c.next writes"},
		{"by a method that is bound", `type c struct{ n int }; func (c *c) next() int { c.n++; return c.n }; func Of() func() int { k := c{}; f := k.next; return FUNC() int { return f() } }`, "x/calc.c.next writes"},
		{"by a function that is captured", `func counter() func() int { n := 0; return func() int { n++; return n } }; func Of() func() int { f := counter(); return FUNC() int { return f() } }`, "which x/calc.counter writes"},
		{"by a function next to it", `func Of() func() int { n := 0; inc := func() { n++ }; return FUNC() int { inc(); return n } }`, "which x/calc.Of writes"},
		{"by a function that it calls", `func inc(p *int) { *p++ }; func Of() func() int { n := 0; inc(&n); return FUNC() int { inc(&n); return n } }`, "which x/calc.inc writes"},
		{"by a goroutine", `func Of() func() int { n := 0; go func() { n++ }(); return FUNC() int { return n } }`, "which x/calc.Of writes"},
		{"a channel", `func Of() func() int { c := make(chan int, 9); c <- 1; return FUNC() int { return <-c } }`, "x/calc.c"},
		{"a reader", `IMPORT "strings"; func Of() func() byte { r := strings.NewReader("abc"); return FUNC() byte { b, _ := r.ReadByte(); return b } }`, "the method ReadByte"},
		{"random numbers with a seed", `IMPORT "math/rand"; func Of() func() int { r := rand.New(rand.NewSource(1)); return FUNC() int { return r.Int() } }`, "the method Int"},
		{"an iterator", `IMPORT "iter"; IMPORT "slices"; func Of() func() int { next, _ := iter.Pull(slices.Values([]int{1, 2})); return FUNC() int { n, _ := next(); return n } }`, "x/calc.next"},
		{"a pool", `IMPORT "sync"; func Of() func() int { var p sync.Pool; return FUNC() int { n, _ := p.Get().(int); p.Put(n + 1); return n } }`, "sync.Pool"},
		{"by a sync.Once", `IMPORT "sync"; func Of() func(int) int { var once sync.Once; n := 0; return FUNC(k int) int { once.Do(func() { n = k }); return n } }`, "sync.Once"},
		{"a hash", `IMPORT "crypto/sha256"; func Of() func([]byte) []byte { h := sha256.New(); return FUNC(b []byte) []byte { h.Write(b); return h.Sum(nil) } }`, "the method Write"},
		{"by atomic functions", `IMPORT "sync/atomic"; func Of() func() int64 { var n atomic.Int64; return FUNC() int64 { return n.Add(1) } }`, "the method Add"},
		{"a map by sync", `IMPORT "sync"; func Of() func() int { var m sync.Map; return FUNC() int { m.Store(1, 2); n := 0; m.Range(func(k, v any) bool { n++; return true }); return n } }`, "the method Store"},

		// Other code writes later.
		{"assigned after", `func Of() func() int { n := 1; f := FUNC() int { return n }; f(); n = 2; return f }`, "which x/calc.Of writes"},
		{"set by code that gets a pointer", `type opt struct{ v int }; func Of() (*opt, func() int) { o := &opt{}; return o, FUNC() int { return o.v } }; func Use() { o, _ := Of(); o.v = 3 }`, "which x/calc.Use writes"},
		{"set by code that gets a setter", `func Of() (func(int), func() int) { n := 0; return func(k int) { n = k },
FUNC() int { return n } }`, "which x/calc.Of writes"},
		{"set by a method", `type opt struct{ v int }; func (o *opt) set(n int) { o.v = n }; func Of() (*opt, func() int) { o := &opt{}; o.set(1); return o, FUNC() int { return o.v } }; func Use() { o, _ := Of(); o.set(3) }`, "which x/calc.opt.set writes"},
		{"set by code that finds it in a struct", `type opt struct{ v *int }; func Of() (opt, func() int) { n := 1; return opt{&n}, FUNC() int { return n } }; func Use() { o, _ := Of(); *o.v = 3 }`, "which x/calc.Use writes"},
		{"set by code that finds it in a variable", `type opt struct{ v int }; var last *opt; func Of() func() int { o := &opt{}; last = o; return FUNC() int { return o.v } }; func Use() { last.v = 3 }`, "which x/calc.Use writes"},
		{"set by its memory, after that", `type opt struct{ v int }; func Of() func() int { o := &opt{}; f := FUNC() int { return o.v }; f(); o.v = 2; return f }`, "which x/calc.Of writes"},

		// Which variable it is.
		{"in a loop", `func Of() (l []func() int) { for i := range 3 { l = append(l, FUNC() int { return i }) }; return l }`, "is made in a loop"},
		{"in a loop over words", `func Of() map[string]func() int { l := map[string]func() int{}; for i := 0; i < 3; i++ { l["a"] = FUNC() int { return i } }; return l }`, "is made in a loop"},
		{"by an iterator", `IMPORT "iter"; func Of() iter.Seq[func() int] { return func(yield func(func() int) bool) { for i := range 3 { yield(
FUNC() int { return i }) } } }`, "is made in a loop"},
		{"by a function that counts", `func Of() func() func() int { n := 0; return func() func() int { n++; k := n; return FUNC() int { return k } } }`, "is made in another function literal"},
		{"next to a goto", `func Of() (l []func() int) { i := 0; again: k := i; l = append(l, FUNC() int { return k }); i++; if i < 3 { goto again }; return l }`, "is made next to a goto"},
		{"of an init function, in a literal", `var m func() int; func init() { n := 7; f := func() func() int {
return FUNC() int { return n } }; m = f() }`, "variables of an init function"},

		// Which type it has.
		{"of a generic function", `type num interface{ n() int }; func Of[X num]() func() int { var z X; n := z.n(); return FUNC() int { return n } }`, "variables of a generic function"},
		{"of a method of a generic type", `type box[X any] struct{ x X; n int }; func (b box[X]) Of() func() int { return FUNC() int { return b.n } }`, "variables of a generic function"},
		{"of one that calls a generic function", `type num interface{ n() int }; type A struct{}; func (A) n() int { return 1 }; func get[X num]() int { var z X; return z.n() }; func Of() func() int { n := get[A](); return FUNC() int { return n } }`, ""},
		{"what is behind an interface reads the environment", `IMPORT "os"; type text interface{ T() string }; type A struct{}; func (A) T() string { return os.Getenv("A") }; func Of(g text) func() string { return FUNC() string { return g.T() } }; func Use(g text) { Of(g) }; var a text = A{}`, "os.Getenv"},
		{"what one is not given reads the environment", `IMPORT "os"; type text interface{ T() string }; type A struct{}; func (A) T() string { return os.Getenv("A") }; type B struct{}; func (B) T() string { return "b" }; func of(g text) func() string { return FUNC() string { return g.T() } }; var a text = A{}; var b = of(B{})`, ""},
		{"what one is given reads the environment", `IMPORT "os"; type text interface{ T() string }; type A struct{}; func (A) T() string { return os.Getenv("A") }; func of(g text) func() string { return FUNC() string { return g.T() } }; var b = of(A{})`, "os.Getenv"},
		{"what one may be given reads the environment", `IMPORT "os"; type text interface{ T() string }; type A struct{}; func (A) T() string { return os.Getenv("A") }; type B struct{}; func (B) T() string { return "b" }; func get() (text, error) { return A{}, nil }; func of(g text, err error) func() string { return FUNC() string { return g.T() } }; var b, c = of(B{}, nil), of(get())`, "os.Getenv"},
		{"what one gives itself reads the environment", `IMPORT "os"; type text interface{ T() string }; type A struct{}; func (A) T() string { return os.Getenv("A") }; type B struct{}; func (B) T() string { return "b" }; func of(g text) func() string { if g == nil { g = A{} }; return FUNC() string { return g.T() } }; var b = of(B{})`, "os.Getenv"},
		{"what has a method that it does not call", `IMPORT "os"; type text interface{ T() string }; type A struct{}; func (A) T() string { return "a" }; func (A) U() string { return os.Getenv("A") }; func of(g text) func() string { return FUNC() string { return g.T() } }; var b = of(A{})`, ""},

		// When it is set.
		{"made before init", `var n = 1; var f = Of(); func init() { n = 2 }; func Of() func() int { k := n; return FUNC() int { return k } }`, "x/calc.n, which x/calc.init writes while the program starts"},
		{"made by init", `var n = 1; var f func() int; func init() { n = 2; f = Of() }; func Of() func() int { k := n; return FUNC() int { return k } }`, "x/calc.n, which x/calc.init writes while the program starts"},
		{"made before init, by way of others", `var n = 1; var f = use(); func use() func() int { return Of() }; func init() { set() }; func set() { n = 2 }; type c struct{}; func (c) get() int { return n }; func Of() func() int { k := c{}.get(); return FUNC() int { return k } }`, "x/calc.n, which x/calc.init writes while the program starts"},
		{"made before init, behind an interface", `var n = 1; var f = Of(); func init() { n = 2 }; type getter interface{ get() int }; type c struct{}; func (c) get() int { return n }; func Of() func() int { var g getter = c{}; k := g.get(); return FUNC() int { return k } }`, "x/calc.n, which x/calc.init writes while the program starts"},
		{"made after init", `var n = 1; func init() { n = 2 }; func Of() func() int { k := n; return FUNC() int { return k } }; func Use() { Of() }`, ""},
		{"made before init and read after", `var n = 1; var f = Of(2); func init() { n = 2 }; func Of(k int) func() int { return FUNC() int { return k + n } }`, ""},
		{"computed from what is declared", `var table = map[string]int{"a": 1}; var f = Of("a"); func Of(s string) func() int { k := table[s]; return FUNC() int { return k } }`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, at := withLiteral(t, c.text)
			closure, err := p.identify(at, Declared{Maker: true})
			switch {
			case c.refused == "" && (err != nil || closure.Kind != Precise):
				t.Errorf("refused: %v, %+v", err, closure)
			case c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)):
				t.Errorf("refused without the words %q: %v", c.refused, err)
			}
		})
	}
}

// TestLiteralsOfOneText checks that two literals with equal text in one function are two makers, and that Pure values
// may change.
func TestLiteralsOfOneText(t *testing.T) {
	const text = `package calc

import "embed"

//go:embed *.go
var files embed.FS

func Of() (f, g func() int) {
	{
		n := 1
		f = func() int { return n }
	}
	{
		n := 2
		g = func() int { return n }
	}
	return f, g
}

func Counter() func() int {
	n := 0
	return func() int { n++; return n }
}
`
	p := parsedText(t, map[string]string{"x/calc": text})
	ids := map[string]int{}
	for _, line := range []int{11, 15} {
		c, err := p.identify(Function{Package: "x/calc", Symbol: "Of.func1", File: "calc.go", Line: line}, Declared{Maker: true})
		if err != nil || c.Kind != Precise || ids[c.ID.String()] > 0 {
			t.Errorf("line %d: %+v, %v; others are %v", line, c, err, ids)
			continue
		}
		ids[c.ID.String()] = line
	}
	counter := Function{Package: "x/calc", Symbol: "Counter.func1", File: "calc.go", Line: 22}
	if _, err := p.identify(counter, Declared{Maker: true}); err == nil {
		t.Error("a counter is not refused")
	}
	if _, err := p.identify(counter, Declared{Maker: true, Pure: []string{"x/calc.n"}}); err != nil {
		t.Errorf("a counter that is declared as Pure: %v", err)
	}
}

// TestGivenFunctions checks that given functions cover only the functions that they are.
func TestGivenFunctions(t *testing.T) {
	const makes = `IMPORT "github.com/larder-data/larder/dataset"; func Of(PARAMS) dataset.Transform { return dataset.NewTransform(dataset.TransformFunc{Func: FUNC() int { return BODY }, FuncArgs: []any{GIVEN}}) }`
	made := func(params, body, given string) string {
		return strings.NewReplacer("PARAMS", params, "BODY", body, "GIVEN", given).Replace(makes)
	}
	for _, c := range []struct {
		text    string
		given   int
		refused bool
	}{
		{made("f func() int", "f()", ""), 0, true},
		{made("f func() int", "f()", "f"), 1, false},
		{made("f func() int", "f()", "f"), 2, true},
		{made("f func() int", "f()", "f"), 0, true},
		{made("f, g func() int", "f() + g()", "f"), 1, true},
		{made("f, g func() int", "f() + g()", "f, f"), 2, true},
		{made("f, g func() int", "f() + g()", "f, g"), 2, false},
		{made("f, g func() int", "f() + g()", "g, f"), 2, false},
		{made("f func() int, n int, g func() int", "f() + n + g()", "f"), 1, true},
		{made("f func() int, n int", "f() + n", "f"), 1, false},
		{made("l []func() int", "l[0]()", "l[0]"), 1, true},
		{made("l ...func() int", "l[0]()", "l[0]"), 1, true},
		{made("m map[string]func() int", "m[\"a\"]()", "m[\"a\"]"), 1, true},
		{made("t struct{ f, g func() int }", "t.f() + t.g()", "t.f, t.g"), 2, true},
		{made("x interface{ n() func() int }", "x.n()()", "x.n()"), 1, false}, // no function of the program is behind it
		{`IMPORT "github.com/larder-data/larder/dataset"; func Of(f func() int) dataset.Transform { f = nil; return dataset.NewTransform(dataset.TransformFunc{Func: FUNC() int { return f() }, FuncArgs: []any{f}}) }`, 1, true},
		{`IMPORT "github.com/larder-data/larder/dataset"; func Of(f func() int) dataset.Transform { p := &f; *p = nil; return dataset.NewTransform(dataset.TransformFunc{Func: FUNC() int { return f() }, FuncArgs: []any{f}}) }`, 1, true},
		{`IMPORT "github.com/larder-data/larder/dataset"; func Of(f func() int) dataset.Transform { m := dataset.TransformFunc{Func: FUNC() int { return f() }, FuncArgs: []any{f}}; m.FuncArgs[0] = Of; return dataset.NewTransform(m) }`, 1, true},
		{`IMPORT "github.com/larder-data/larder/dataset"; func Of(f func() int) (a, b dataset.Transform) { a = dataset.NewTransform(dataset.TransformFunc{Func: func() int { return 1 }, FuncArgs: []any{f}}); b = dataset.NewTransform(dataset.TransformFunc{Func: FUNC() int { return f() }}); return a, b }`, 1, true},
		{`func Of(f func() int) func() int { return FUNC() int { return f() } }`, 1, true},
		{`type fn func() int; func (f fn) Of() func() int { return FUNC() int { return f() } }`, 1, true},
		{`func Of(c chan func() int) func() int { k := cap(c); return FUNC() int { return k } }`, 1, true},
		{`func Of(f any) func() int { return FUNC() int { return f.(func() int)() } }; type box struct{ f func() int }; var A any = box{}`, 1, true},
		{`func Of(l []any) func() int { return FUNC() int { return l[0].(box).f() } }; type box struct{ f func() int }; var A any = box{}`, 1, true},
		{`type two struct{ f any }; func Of(t two) func() int { return FUNC() int { return t.f.(box).f() } }; type box struct{ f func() int }; var A any = box{}`, 1, true},
		{`func Of(f any) func() int { return FUNC() int { n, _ := f.(int); return n } }`, 1, false},
		// One literal that captures nothing.
		{`func of(f func() int) func() int { return FUNC() int { return f() } }; var A = of(func() int { return 2 })`, 0, false},
		{`func of(f func() int) func() int { return FUNC() int { return f() } }; func Use(n int) { of(func() int { return n }) }`, 0, true},
		{`func of(f func() int) func() int { return FUNC() int { return f() } }; var A, B = of(func() int { return 2 }), of(func() int { return 3 })`, 0, true},
		// All of the program passes one function, and names it.
		{`func one() int { return 1 }; func of(f func() int) func() int { return FUNC() int { return f() } }; var A = of(one)`, 0, false},
		{`func one() int { return 1 }; func two() int { return 2 }; func of(f func() int) func() int { return FUNC() int { return f() } }; var A, B = of(one), of(two)`, 0, true},
		{`func one() int { return 1 }; var f = one; func of(f func() int) func() int { return FUNC() int { return f() } }; var A = of(f)`, 0, true},
		{`func one() int { return 1 }; func of(f func() int) func() int { return FUNC() int { return f() } }; var A, B = of(one), of`, 0, true},
		// Arguments for an interface with or without functions in them.
		{`type num interface{ n() int }; type A struct{}; func (A) n() int { return 1 }; type B struct{ f func() int }; func (B) n() int { return 2 }; func of(x num) func() int { return FUNC() int { return x.n() } }; var a, b = of(A{}), num(B{})`, 0, false},
		{`type num interface{ n() int }; type A struct{}; func (A) n() int { return 1 }; type B struct{ f func() int }; func (B) n() int { return 2 }; func of(x num) func() int { return FUNC() int { return x.n() } }; var a, b = of(A{}), of(B{})`, 0, true},
		{`IMPORT "log/slog"; func of(l *slog.Logger, n int) func() int { return FUNC() int { l.Info("a"); return n } }`, 0, false},
		{`IMPORT "sync"; func of(p *sync.Pool) func() int { return FUNC() int { return p.New().(int) } }`, 0, true},
	} {
		p, at := withLiteral(t, c.text)
		closure, err := p.identify(at, Declared{Maker: true, Given: c.given, Through: []string{engine + "/dataset"}})
		switch {
		case !c.refused && (err != nil || closure.Kind != Precise):
			t.Errorf("%s, of which %d are given: %+v, %v", c.text, c.given, closure, err)
		case c.refused && (err == nil || !strings.Contains(err.Error(), "no key says which") && !strings.Contains(err.Error(), "name each function that it receives once")):
			t.Errorf("%s, of which %d are given: %+v is not refused for that: %v", c.text, c.given, closure, err)
		}
	}
}

// withLiteral returns a program of one line, and the literal whose func is spelled FUNC in it.
func withLiteral(t *testing.T, line string) (*parsedProgram, Function) {
	t.Helper()
	text := "package calc\n\nimport \"embed\"\n"
	parts := strings.Split(line, "; ")
	for strings.HasPrefix(parts[0], "IMPORT ") {
		text += "import " + strings.TrimPrefix(parts[0], "IMPORT ") + "\n"
		parts = parts[1:]
	}
	text += "\n//go:embed *.go\nvar files embed.FS\n\n" + strings.Join(parts, "; ") + "\n"
	before, after, found := strings.Cut(text, "FUNC(")
	if !found {
		t.Fatal("no literal")
	}
	if i := strings.LastIndex(before, "; "); i >= 0 { // other literals are on other lines
		before = before[:i] + "\n" + before[i+2:]
	}
	packages := map[string]string{"x/calc": before + "func(" + strings.Replace(after, "{ ", "{\n", 1)}
	if strings.Contains(line, engine+"/dataset") {
		packages[engine+"/dataset"] = "package dataset\n\ntype TransformFunc struct {\n\tFunc any\n\tFuncArgs []any\n}\n\ntype Transform any\n\nfunc NewTransform(TransformFunc) Transform { return nil }\n"
	}
	p := parsedText(t, packages)
	return p, Function{Package: "x/calc", Symbol: "Of.func1", File: "calc.go", Line: strings.Count(before, "\n") + 1}
}
