package source

import (
	"errors"
	"strings"
	"testing"
)

// Whether a package variable is constant is proved or the function refused:
// each case is a package with a function Area that reads a variable v.
func TestVariables(t *testing.T) {
	for _, c := range []struct {
		name, text string
		refused    string // what the refusal says; "" for none
	}{
		// Constant.
		{"a number", `var v = 3; func Area() int { return v }`, ""},
		{"a map that is read", `var v = map[string]int{"a": 1}; func Area() int { return v["a"] + len(v) }`, ""},
		{"a table of structs", `type row struct{ name string; n int }; var v = []row{{"a", 1}}; func Area() (n int) { for _, r := range v { r.n++; n += r.n }; return n }`, ""},
		{"a table of pointers that is read", `type row struct{ n int }; var v = []*row{{1}}; func Area() (n int) { for _, r := range v { n += r.n }; return n }`, ""},
		{"functions in a table", `var v = []struct{ f func(int) int }{{double}}; func double(n int) int { return 2 * n }; func Area() int { return v[0].f(2) }`, ""},
		{"filled by init", `var v = map[string]int{}; func init() { v["a"] = 1 }; func Area() int { return v["a"] }`, ""},
		{"filled by what init calls", `var v = map[string]int{}; func init() { fill(v) }; func fill(m map[string]int) { m["a"] = 1 }; func Area() int { return v["a"] }`, ""},
		{"made by a function", `type conf struct{ n int }; func newConf() *conf { c := &conf{}; c.n = 3; return c }; var v = newConf(); func Area() int { return v.n + newConf().n }`, ""},
		{"made by a literal", `var v = func() map[string]int { m := map[string]int{}; for i := range 3 { m["a"] = i }; return m }(); func Area() int { return v["a"] }`, ""},
		{"handed to a function that reads", `var v = []int{1}; func sum(l []int) (n int) { for _, x := range l { n += x }; return n }; func Area() int { return sum(v) }`, ""},
		{"handed out and read", `var v = []int{1}; func get() []int { return v }; func Area() int { return get()[0] }`, ""},
		{"a method that reads", `type set map[string]bool; func (s set) has(k string) bool { return s[k] }; var v = set{"a": true}; func Area() bool { return v.has("a") }`, ""},
		{"behind an interface", `type shape interface{ area() int }; type sq struct{ n int }; func (s *sq) area() int { return s.n }; var v shape = &sq{2}; func Area() int { return v.area() }`, ""},
		{"copied and then written", `var v = []int{3, 1}; func Area() int { c := append([]int(nil), v...); c[0] = 9; return c[0] }`, ""},
		{"an array, copied and then written", `var v = [2]int{3, 1}; func Area() int { c := v; c[0] = 9; return c[0] }`, ""},
		{"cloned", `IMPORT "slices"; var v = []int{3, 1}; func Area() int { c := slices.Clone(v); slices.Sort(c); return slices.Max(v) + c[0] }`, ""},
		{"a regular expression", `IMPORT "regexp"; var v = regexp.MustCompile("a+"); func Area() bool { return v.MatchString("aa") }`, ""},
		{"an error", `IMPORT "errors"; var v = errors.New("no"); func Area(n int) error { if n > 0 { return v }; return nil }`, ""},
		{"a replacer", `IMPORT "strings"; var v = strings.NewReplacer("a", "b"); func Area() string { return v.Replace("a") }`, ""},
		{"filled once", `IMPORT "sync"; var once sync.Once; var v map[string]int; func get() map[string]int { once.Do(func() { v = map[string]int{"a": 1}; v["b"] = 2 }); return v }; func Area() int { return get()["a"] }`, ""},
		{"a value that is made once", `IMPORT "sync"; var v = sync.OnceValue(func() map[string]int { m := map[string]int{}; m["a"] = 1; return m }); func Area() int { return v()["a"] }`, ""},
		{"a pool", `IMPORT "bytes"; IMPORT "sync"; var v = sync.Pool{New: func() any { return new(bytes.Buffer) }}; func Area() string { b := v.Get().(*bytes.Buffer); defer v.Put(b); b.Reset(); b.WriteString("x"); return b.String() }`, ""},
		{"a logger", `IMPORT "log"; IMPORT "os"; var v = log.New(os.Stderr, "", 0); func Area() int { v.Print("x"); return 1 }`, ""},
		{"a template", `IMPORT "strings"; IMPORT "text/template"; var v = template.Must(template.New("x").Parse("{{.}}")); func Area(n int) string { var b strings.Builder; v.Execute(&b, n); return b.String() }`, ""},
		{"a big number that is compared", `IMPORT "math/big"; var v = big.NewInt(7); func Area() int { return v.Cmp(big.NewInt(3)) }`, ""},
		{"a big number that is read", `IMPORT "math/big"; var v = big.NewInt(7); func Area() string { return new(big.Int).Add(v, v).String() }`, ""},
		{"a mutex", `IMPORT "sync"; var v sync.Mutex; func Area() int { v.Lock(); defer v.Unlock(); return 1 }`, ""},
		{"searched", `IMPORT "sort"; var v = []int{1, 2}; func Area() int { return sort.Search(len(v), func(i int) bool { return v[i] >= 2 }) + sort.SearchInts(v, 2) }`, ""},
		{"printed", `IMPORT "fmt"; var v = map[string]int{"a": 1}; func Area() string { return fmt.Sprint(v) }`, ""},
		{"encoded", `IMPORT "encoding/json"; var v = map[string][]int{"a": {1}}; func Area() string { b, _ := json.Marshal(v); return string(b) }`, ""},
		{"searched by a function", `IMPORT "slices"; type row struct{ n int }; var v = []*row{{1}}; func Area() int { return slices.IndexFunc(v, func(r *row) bool { return r.n == 1 }) }`, ""},
		{"an enumeration's names", `type kind int; var v = [...]string{"a", "b"}; func (k kind) String() string { return v[k] }; func Area() string { return kind(1).String() }`, ""},
		{"compared with nil", `var v map[string]int; func Area() bool { return v == nil }`, ""},
		{"a type switch that reads", `var v any = []int{1}; func Area() int { switch x := v.(type) { case []int: return x[0] }; return 0 }`, ""},
		{"a counter that nobody reads", `var n int; var v = 2; func count() { n++ }; func Area() int { return v }`, ""},

		{"an error that everybody passes on", `IMPORT "errors"; var v = errors.New("no"); type box struct{ err error }; func div(n int) (int, error) { if n == 0 { return 0, v }; return 1 / n, nil }; var ops = map[string]func(int) (int, error){"div": div}; func Area(n int) box { _, err := ops["div"](n); c := make(chan error, 1); c <- err; return box{<-c} }`, ""},
		{"copied into a map", `IMPORT "maps"; var v = map[string]float64{"pi": 3}; func Area() int { m := map[string]float64{}; maps.Copy(m, v); m["e"] = 2; return len(m) }`, ""},
		{"passed to a method of its own kind", `type env struct{ m map[string]int }; type node interface{ Eval(*env) int }; type lit int; func (l lit) Eval(e *env) int { return e.m["a"] }; var v = &env{map[string]int{"a": 1}}; func Area() int { var n node = lit(1); return n.Eval(v) }`, ""},

		{"filled once, with the Once beside it", `IMPORT "sync"; IMPORT "regexp"; type lazy struct { text string; once sync.Once; re *regexp.Regexp }; func (l *lazy) get() *regexp.Regexp { l.once.Do(func() { l.re = regexp.MustCompile(l.text) }); return l.re }; var v = &lazy{text: "a+"}; func Area(s string) bool { return v.get().MatchString(s) }`, ""},
		{"another's method of the same name", `type codec interface{ Enc([]byte) []byte }; type plain struct{}; func (*plain) Enc(b []byte) []byte { return b }; type other struct{ n int }; func (o *other) Enc(n int) int { o.n += n; return o.n }; var o = &other{}; func Use() int { return o.Enc(1) }; var use = Use; var v = map[string]codec{"a": &plain{}}; func Area(b []byte) []byte { return v["a"].Enc(b) }`, ""},
		{"a pool in a struct", `IMPORT "sync"; type kernel struct { pool sync.Pool; w []float64 }; func newKernel() *kernel { k := &kernel{w: []float64{1}}; k.pool.New = func() any { b := make([]float64, len(k.w)); return &b }; return k }; var v = newKernel(); func Area() float64 { b := v.pool.Get().(*[]float64); defer v.pool.Put(b); clear(*b); (*b)[0] = 2; return v.w[0] }`, ""},

		{"a pool whose items are reset when they are put back", `IMPORT "bytes"; IMPORT "sync"; var v = sync.Pool{New: func() any { return new(bytes.Buffer) }}; func get() *bytes.Buffer { return v.Get().(*bytes.Buffer) }; func put(b *bytes.Buffer) { b.Reset(); v.Put(b) }; func Area() string { b := get(); defer put(b); b.WriteString("x"); return b.String() }`, ""},
		{"a pool of slices", `IMPORT "sync"; var v = sync.Pool{New: func() any { b := make([]byte, 0, 8); return &b }}; func Area() string { p := v.Get().(*[]byte); b := (*p)[:0]; b = append(b, 'x'); s := string(b); *p = b; v.Put(p); return s }`, ""},
		{"a logger that says nothing", `IMPORT "log/slog"; var v = slog.New(slog.DiscardHandler); func Area() int { v.Info("x"); return 1 }`, ""},
		{"an empty context", `IMPORT "context"; var v = context.Background(); func work(ctx context.Context) error { return ctx.Err() }; func Area() error { return work(v) }`, ""},
		{"read by json", `IMPORT "encoding/json"; var v = []byte("[1]"); func Area() (l []int) { json.Unmarshal(v, &l); return l }`, ""},
		{"appended to without room", `var v = []int{1, 2}; func Area() []int { return append(v[:1:1], 9) }`, ""},
		{"an interface with a method named as the library's", `type e interface{ Eval(int) int; Get() int }; type a struct{ n int }; func (a a) Eval(b int) int { return a.n + b }; func (a a) Get() int { return a.n }; var v e = a{4}; func Area(x int) int { return v.Eval(x) + v.Get() }`, ""},

		// Not constant.
		{"closures that come out together", `func mk() (func() int, func(int)) { n := 1; return func() int { return n }, func(x int) { n = x } }; var v, set = mk(); func Area() int { return v() }`, "x/calc.v"},
		{"closures that init makes together", `var v func() int; var set func(int); func mk() (func() int, func(int)) { n := 1; return func() int { return n }, func(x int) { n = x } }; func init() { v, set = mk() }; func Area() int { return v() }`, "x/calc.v"},
		{"methods that come out together", `type s struct{ n int }; func (s *s) get() int { return s.n }; func (s *s) inc() { s.n++ }; func mk() (func() int, func()) { s := &s{}; return s.get, s.inc }; var v, inc = mk(); func Area() int { return v() }`, "x/calc.v"},
		{"closures that an iterator hands out", `var v func() int; func cells(yield func(func() int, func(int)) bool) { n := 1; yield(func() int { return n }, func(x int) { n = x }) }; func init() { for g := range cells { v = g } }; func Area() int { return v() }`, "iterator"},
		{"what is pulled from an iterator", `IMPORT "iter"; IMPORT "slices"; var v, stop = iter.Pull(slices.Values([]int{1, 2})); func Area() int { n, _ := v(); return n }`, "iter.Pull"},
		{"an expression that is changed", `IMPORT "regexp"; var v = regexp.MustCompile("a|ab"); func Tune() { v.Longest() }; var tune = Tune; func Area() string { return v.FindString("ab") }`, "Longest"},
		{"an expression that is decoded into", `IMPORT "encoding/json"; IMPORT "regexp"; var v = regexp.MustCompile("a"); func Tune() { json.Unmarshal([]byte("\"b\""), v) }; var tune = Tune; func Area() string { return v.FindString("ab") }`, "json.Unmarshal"},
		{"a buffer that a logger fills", `IMPORT "bytes"; IMPORT "log"; var v bytes.Buffer; var l = log.New(&v, "", 0); func Tune() { l.Print("x") }; var tune = Tune; func Area() string { return v.String() }`, "log.New"},
		{"a logger that can be read", `IMPORT "log"; IMPORT "strings"; func Area() string { var b strings.Builder; log.New(&b, "", log.LstdFlags).Print("x"); return b.String() }`, "what is logged"},
		{"a handler that can be read", `IMPORT "log/slog"; IMPORT "strings"; func Area() string { var b strings.Builder; slog.New(slog.NewTextHandler(&b, nil)).Info("x"); return b.String() }`, "what is logged"},
		{"filled once, by what the first passes", `IMPORT "sync"; var once sync.Once; var v int; func Area(n int) int { once.Do(func() { v = n }); return v }`, "sync.Once"},
		{"a sync.Once as a flag", `IMPORT "sync"; var v sync.Once; func Area() string { s := "late"; v.Do(func() { s = "first" }); return s }`, "sync.Once"},
		{"a context that is cancelled", `IMPORT "context"; var v, cancel = context.WithCancel(context.Background()); func Area() error { return v.Err() }`, "x/calc.v"},
		{"closures that come out together, in fields", `type s struct{ g func() int; s func(int) }; var v s; func mk() (func() int, func(int), error) { n := 1; return func() int { return n }, func(x int) { n = x }, nil }; func init() { v.g, v.s, _ = mk() }; func Area() int { return v.g() }`, "x/calc.v"},
		{"through what init puts into a map", `type row struct{ n int }; var r = &row{1}; var v = map[string]*row{}; func init() { v["a"] = r }; func Tune() { r.n = 2 }; var tune = Tune; func Area() int { return v["a"].n }`, "x/calc.Tune"},
		{"through what init puts into a copy of a map", `type row struct{ n int }; var r = &row{1}; var v = map[string]*row{}; func init() { m := v; m["a"] = r }; func Tune() { r.n = 2 }; var tune = Tune; func Area() int { return v["a"].n }`, "x/calc.Tune"},
		{"through what a method of init keeps", `type row struct{ n int }; type reg struct{ m map[string]*row }; func (r *reg) add(k string, x *row) { r.m[k] = x }; var r = &row{1}; var v = &reg{map[string]*row{}}; func init() { v.add("a", r) }; func Tune() { r.n = 2 }; var tune = Tune; func Area() int { return v.m["a"].n }`, "x/calc.Tune"},
		{"a lock that is printed", `IMPORT "fmt"; IMPORT "sync"; var v sync.Mutex; func Tune() { v.Lock() }; var tune = Tune; func Area() string { return fmt.Sprint(&v) }`, "locks"},
		{"a pool whose items are not reset", `IMPORT "bytes"; IMPORT "fmt"; IMPORT "sync"; var v = sync.Pool{New: func() any { return new(bytes.Buffer) }}; func Area(x int) string { b := v.Get().(*bytes.Buffer); defer v.Put(b); fmt.Fprint(b, x); return b.String() }`, "sync.Pool"},
		{"filled once, with another's Once", `IMPORT "sync"; type lazy struct { n int; once sync.Once }; func (l *lazy) load(o *lazy) int { o.once.Do(func() { o.n = 3 }); return l.n }; var v, w = &lazy{}, &lazy{}; func Area() int { return v.load(w) + w.load(v) }`, "x/calc"},
		{"filled once, with the Once beside it, and read before", `IMPORT "sync"; type lazy struct { n int; once sync.Once }; func (l *lazy) load() { l.once.Do(func() { l.n = 3 }) }; var v = &lazy{}; var load = v.load; func Area() int { return v.n }`, "x/calc"},
		{"an error that is replaced", `IMPORT "errors"; var v = errors.New("no"); func Tune() { v = errors.New("yes") }; var tune = Tune; func Area() error { return v }`, "x/calc.Tune"},
		{"by the second result of the library", `IMPORT "bytes"; var v = []byte("a,b"); func Tune() { _, after, _ := bytes.Cut(v, []byte(",")); after[0] = 'x' }; var tune = Tune; func Area() string { return string(v) }`, "x/calc.v"},
		{"by the second result of the library, declared", `IMPORT "bytes"; var v = []byte("a,b"); func Tune() { var _, after, _ = bytes.Cut(v, []byte(",")); after[0] = 'x' }; var tune = Tune; func Area() string { return string(v) }`, "x/calc.v"},
		{"by the second result of the library, handed on", `IMPORT "bytes"; var v = []byte("a,b"); func cut() (a, b []byte, ok bool) { return bytes.Cut(v, []byte(",")) }; func Tune() { _, after, _ := cut(); after[0] = 'x' }; var tune = Tune; func Area() string { return string(v) }`, "x/calc.v"},
		{"by the second result of the library, passed on", `IMPORT "bytes"; var v = []byte("a,b"); func set(a, b []byte, ok bool) { b[0] = 'x' }; func Tune() { set(bytes.Cut(v, []byte(","))) }; var tune = Tune; func Area() string { return string(v) }`, "x/calc.v"},
		{"by the second result of the library, stored", `IMPORT "bytes"; type box struct{ b []byte }; var v = []byte("a,b"); func Tune() { var x box; _, x.b, _ = bytes.Cut(v, []byte(",")); x.b[0] = 'x' }; var tune = Tune; func Area() string { return string(v) }`, "x/calc.v"},
		{"by the second result of a function that is a value", `var v = []int{1}; func two() (int, []int) { return 1, v }; var f = two; func Tune() { _, l := f(); l[0] = 2 }; var tune = Tune; func Area() int { return v[0] }`, "x/calc.v"},
		{"by the second result of a method of an interface", `type two interface{ Two() (int, []int) }; type t struct{}; func (t) Two() (int, []int) { return 1, v }; var v = []int{1}; func Tune(x two) { _, l := x.Two(); l[0] = 2 }; var tune = Tune; var it two = t{}; func Area() int { return v[0] }`, "x/calc.v"},
		{"by the second result of a generic function", `var v = []int{1}; func two[T any](x T) (bool, T) { return true, x }; func Tune() { _, l := two(v); l[0] = 2 }; var tune = Tune; func Area() int { return v[0] }`, "x/calc.v"},
		{"which is a second result of the library", `IMPORT "bytes"; var buf = []byte("a,b"); var _, v, _ = bytes.Cut(buf, []byte(",")); func Tune() { buf[2] = 'x' }; var tune = Tune; func Area() string { return string(v) }`, "x/calc.v"},
		{"which is a second result of a function", `var buf = []int{1}; func two() (int, []int) { return 1, buf }; var _, v = two(); func Tune() { buf[0] = 2 }; var tune = Tune; func Area() int { return v[0] }`, "x/calc.v"},
		{"which is a second result that a function hands on", `IMPORT "bytes"; var buf = []byte("a,b"); func two() (a, b []byte, ok bool) { return bytes.Cut(buf, []byte(",")) }; var _, v, _ = two(); func Tune() { buf[2] = 'x' }; var tune = Tune; func Area() string { return string(v) }`, "x/calc.v"},
		{"which is a second result of a function that is a value", `var buf = []int{1}; func two() (int, []int) { return 1, buf }; var f = two; var v []int; func init() { _, v = f() }; func Tune() { buf[0] = 2 }; var tune = Tune; func Area() int { return v[0] }`, "x/calc.v"},
		{"which is a second result of a closure", `var buf = []int{1}; var v []int; func init() { f := func() (int, []int) { return 1, buf }; _, v = f() }; func Tune() { buf[0] = 2 }; var tune = Tune; func Area() int { return v[0] }`, "x/calc.v"},
		{"which is a named second result", `var buf = []int{1}; func two() (n int, l []int) { l = buf; return }; var _, v = two(); func Tune() { buf[0] = 2 }; var tune = Tune; func Area() int { return v[0] }`, "x/calc.v"},
		{"which is a named result that a deferred function sets", `var buf = []int{1}; func two() (n int, l []int) { defer func() { l = buf }(); return 1, nil }; var _, v = two(); func Tune() { buf[0] = 2 }; var tune = Tune; func Area() int { return v[0] }`, "x/calc.v"},
		{"which is found in a map", `var buf = []int{1}; var m = map[string][]int{"a": buf}; var v, _ = m["a"]; func Tune() { buf[0] = 2 }; var tune = Tune; func Area() int { return v[0] }`, "x/calc.v"},
		{"which is what an interface holds", `var buf = []int{1}; var i any = buf; var v, _ = i.([]int); func Tune() { buf[0] = 2 }; var tune = Tune; func Area() int { return v[0] }`, "x/calc.v"},
		{"which a function is given among several results", `var buf = []int{1}; var v []int; func two() (int, []int) { return 1, buf }; func keep(n int, l []int) { v = l }; func init() { keep(two()) }; func Tune() { buf[0] = 2 }; var tune = Tune; func Area() int { return v[0] }`, "x/calc.v"},
		{"found in a map and written", `var v = map[string][]int{"a": {1}}; func Tune() { if l, ok := v["a"]; ok { l[0] = 2 } }; var tune = Tune; func Area() int { return v["a"][0] }`, "x/calc.v"},
		{"taken from an interface and written", `var v any = []int{1}; func Tune() { if l, ok := v.([]int); ok { l[0] = 2 } }; var tune = Tune; func Area() int { return v.([]int)[0] }`, "x/calc.v"},
		{"taken from a map into another and written", `var v = map[string][]int{"a": {1}}; var other = map[string][]int{}; func Tune() { var ok bool; other["b"], ok = v["a"]; _ = ok; other["b"][0] = 2 }; var tune = Tune; func Area() int { return v["a"][0] }`, "x/calc.v"},
		{"among several arguments that are results", `var v = []int{1}; func two() (int, []int) { return 1, v }; func set(n int, l []int) { l[0] = n }; func Tune() { set(two()) }; var tune = Tune; func Area() int { return v[0] }`, "x/calc.v"},
		{"among variadic arguments that are results", `var v = []int{1}; func two() ([]int, []int) { return nil, v }; func set(l ...[]int) { for _, x := range l { x[0] = 3 } }; func Tune() { set(two()) }; var tune = Tune; func Area() int { return v[0] }`, "x/calc.v"},
		{"its parts copied into a map, and written there", `IMPORT "maps"; type row struct{ n int }; var v = map[string]*row{"a": {1}}; func Tune() { m := map[string]*row{}; maps.Copy(m, v); m["a"].n = 2 }; var tune = Tune; func Area() int { return v["a"].n }`, "x/calc.v"},
		{"assigned", `var v int; func Area() int { v = 3; return v }`, "which x/calc.Area writes"},
		{"counted", `var v int; func Area() int { v++; return v }`, "x/calc.Area"},
		{"assigned elsewhere", `var v int; func Set(n int) { v = n }; var set = Set; func Area() int { return v }`, "x/calc.Set"},
		{"a field behind a pointer that is handed out", `type conf struct{ Rate int }; var v = &conf{3}; func Config() *conf { return v }; func Tune() { Config().Rate = 5 }; var tune = Tune; func Area() int { return v.Rate }`, "x/calc.Tune"},
		{"a pointer to it, twice removed", `var v = 3; func Tune() { p := &v; q := p; *q = 1 }; var tune = Tune; func Area() int { return v }`, "x/calc.Tune"},
		{"elements of a ranged slice of pointers", `type row struct{ n int }; var v = []*row{{1}}; func Tune() { for _, r := range v { r.n++ } }; var tune = Tune; func Area() int { return v[0].n }`, "x/calc.Tune"},
		{"decoded into", `IMPORT "encoding/json"; type conf struct{ N int }; var v = &conf{3}; func Tune(b []byte) { json.Unmarshal(b, v) }; var tune = Tune; func Area() int { return v.N }`, "json.Unmarshal"},
		{"sorted", `IMPORT "sort"; var v = []string{"b", "a"}; func Area() string { sort.Strings(v); return v[0] }`, "sort.Strings"},
		{"copied into", `IMPORT "maps"; var v = map[string]int{}; func Tune() { maps.Copy(v, map[string]int{"a": 1}) }; var tune = Tune; func Area() int { return v["a"] }`, "maps.Copy"},
		{"an atomic", `IMPORT "sync/atomic"; var v atomic.Int64; func Area() int64 { return v.Add(1) }`, "x/calc.Area"},
		{"an atomic that others set", `IMPORT "sync/atomic"; var v atomic.Int64; func Set() { v.Store(4) }; var set = Set; func Area() int64 { return v.Load() }`, "x/calc.Set"},
		{"a map for many", `IMPORT "sync"; var v sync.Map; func Area() bool { _, seen := v.LoadOrStore("a", 1); return seen }`, "x/calc.v"},
		{"a closure that keeps state", `func counter() func() int { n := 0; return func() int { n++; return n } }; var v = counter(); func Area() int { return v() }`, "x/calc.v"},
		{"a closure in init that keeps state", `var v func() int; func init() { n := 0; v = func() int { n++; return n } }; func Area() int { return v() }`, "x/calc.v"},
		{"a method value that keeps state", `type c struct{ n int }; func (c *c) next() int { c.n++; return c.n }; var v = (&c{}).next; func Area() int { return v() }`, "x/calc.v"},
		{"filled once, and read before", `IMPORT "sync"; var once sync.Once; var v int; func load() { once.Do(func() { v = 3 }) }; func Area() int { return v }; var l = load`, "sync.Once"},
		{"functional options", `type conf struct{ n int }; type option func(*conf); func WithN(n int) option { return func(c *conf) { c.n = n } }; var v = &conf{}; func Tune(o ...option) { for _, f := range o { f(v) } }; var tune = Tune; func Area() int { return v.n }`, "x/calc.v"},
		{"through another variable", `var m = map[string]int{}; var v = m; func Tune() { m["a"] = 1 }; var tune = Tune; func Area() int { return v["a"] }`, "x/calc.Tune"},
		{"through a field of another", `type box struct{ m map[string]int }; var b = box{map[string]int{}}; var v = b.m; func Tune() { b.m["a"] = 1 }; var tune = Tune; func Area() int { return v["a"] }`, "x/calc.Tune"},
		{"by what made it", `var v = make2(); func make2() map[string]int { m := map[string]int{}; go func() { m["a"]++ }(); return m }; func Area() int { return v["a"] }`, "x/calc.v"},
		{"through a channel", `var v = map[string]int{}; var c = make(chan map[string]int, 1); func Send() { c <- v }; func Recv() { (<-c)["a"] = 1 }; var s, r = Send, Recv; func Area() int { return v["a"] }`, "channel"},
		{"a slice of an array", `var v [3]int; func Tune() { s := v[:]; s[0] = 1 }; var tune = Tune; func Area() int { return v[0] }`, "x/calc.Tune"},
		{"appended to, part of it", `var v = []int{1, 2}; func Tune() []int { return append(v[:1], 9) }; var tune = Tune; func Area() int { return v[1] }`, "x/calc.Tune"},
		{"by a method through an interface", `type set interface{ put() }; type s struct{ n int }; func (s *s) put() { s.n++ }; var v = &s{}; func Tune(x set) { x.put() }; func Do() { Tune(v) }; var do = Do; func Area() int { return v.n }`, "x/calc.s.put"},
		{"by a method that fmt calls", `IMPORT "fmt"; type s struct{ n int }; func (s *s) String() string { s.n++; return "" }; var v = &s{}; func Area() string { return fmt.Sprint(v) }`, "x/calc.s.String"},
		{"through a generic function", `func put[T any](p *T, x T) { *p = x }; var v int; func Tune() { put(&v, 3) }; var tune = Tune; func Area() int { return v }`, "x/calc.put"},
		{"kept in a struct and written", `type user struct{ m map[string]int }; var v = map[string]int{}; func newUser() *user { return &user{m: v} }; func (u *user) set() { u.m["a"] = 1 }; func Do() { newUser().set() }; var do = Do; func Area() int { return v["a"] }`, "x/calc.user.set"},
		{"kept in a field and written", `type user struct{ m map[string]int }; var v = map[string]int{}; func newUser() *user { u := &user{}; u.m = v; return u }; func (u *user) set() { u.m["a"] = 1 }; func Do() { newUser().set() }; var do = Do; func Area() int { return v["a"] }`, "x/calc.user.set"},
		{"kept in a map and written", `var v = map[string]int{}; func Do() { all := map[string]map[string]int{"v": v}; all["v"]["a"] = 1 }; var do = Do; func Area() int { return v["a"] }`, "x/calc.Do"},
		{"in a type switch", `var v any = []int{1}; func Do() { switch x := v.(type) { case []int: x[0]++ } }; var do = Do; func Area() int { return v.([]int)[0] }`, "x/calc.Do"},
		{"a buffer", `IMPORT "bytes"; var v bytes.Buffer; func Area() string { v.WriteByte('a'); return v.String() }`, "x/calc.Area"},
		{"a generator of numbers", `IMPORT "math/rand"; var v = rand.New(rand.NewSource(1)); func Area() int { return v.Intn(9) }`, "x/calc.Area"},
		{"a big number that is written", `IMPORT "math/big"; var v = big.NewInt(7); func Area() string { return v.Add(v, v).String() }`, "x/calc.Area"},
		{"a channel", `var v = make(chan int, 3); func Area() int { v <- 1; return len(v) }`, "x/calc.Area"},
		{"deferred", `var v int; func Area() int { defer func() { v++ }(); return v }`, "x/calc.Area"},
		{"a loop's variable", `var v int; func Area() (n int) { for v = range 3 { n += v }; return n }`, "x/calc.Area"},
		{"swapped", `var v = []int{1, 2}; func Area() int { v[0], v[1] = v[1], v[0]; return v[0] }`, "x/calc.Area"},
		{"a linked list", `type node struct{ next *node; n int }; var v = &node{n: 1}; func Push() { v.next = &node{n: 2} }; var p = Push; func Area() int { return v.n }`, "x/calc.Push"},
		{"the end of a linked list", `type node struct{ next *node; n int }; var v = &node{n: 1}; func Push() { n := v; for n.next != nil { n = n.next }; n.next = &node{n: 2} }; var p = Push; func Area() int { return v.n }`, "x/calc.Push"},
		{"an embedded struct's field", `type base struct{ n int }; type conf struct{ *base }; var v = conf{&base{1}}; func Tune() { v.n = 2 }; var tune = Tune; func Area() int { return v.base.n }`, "x/calc.Tune"},
		{"through a struct that has just been made", `type row struct{ n int }; type box struct{ r *row }; var v = &row{1}; func Tune() { c := box{v}; c.r.n = 5 }; var tune = Tune; func Area() int { return v.n }`, "x/calc.Tune"},
		{"through an array that has just been made", `type row struct{ n int }; var v = &row{1}; func Tune() { c := [1]*row{v}; c[0].n = 5 }; var tune = Tune; func Area() int { return v.n }`, "x/calc.Tune"},
		{"through a slice that has just been made", `type row struct{ n int }; var v = &row{1}; func Tune() { c := []*row{v}; c[0].n = 5 }; var tune = Tune; func Area() int { return v.n }`, "x/calc.Tune"},
		{"by a goroutine of what made it", `func make2() map[string]int { m := map[string]int{}; done := make(chan int); go func() { m["a"]++; close(done) }(); return m }; var v = make2(); func Area() int { return v["a"] }`, "x/calc.v"},
		{"in a loop that passes it on", `type row struct{ n int }; var v = []*row{{1}}; func each(f func(*row)) { for _, r := range v { f(r) } }; func Tune() { each(func(r *row) { r.n = 2 }) }; var tune = Tune; func Area() int { return v[0].n }`, "x/calc.v"},
		{"by an iterator", `IMPORT "iter"; type row struct{ n int }; var v = []*row{{1}}; func all() iter.Seq[*row] { return func(yield func(*row) bool) { for _, r := range v { if !yield(r) { return } } } }; func Tune() { for r := range all() { r.n = 2 } }; var tune = Tune; func Area() int { return v[0].n }`, "x/calc.v"},
		{"through a result with a name", `var v = map[string]int{}; func get() (m map[string]int) { m = v; return }; func Tune() { get()["a"] = 1 }; var tune = Tune; func Area() int { return v["a"] }`, "x/calc.Tune"},
		{"through two results", `var v = map[string]int{}; func get() (map[string]int, bool) { return v, true }; func Tune() { m, _ := get(); m["a"] = 1 }; var tune = Tune; func Area() int { return v["a"] }`, "x/calc.Tune"},
		{"through variadic arguments", `type row struct{ n int }; var v = &row{1}; func all(l ...*row) { for _, r := range l { r.n = 3 } }; func Tune() { all(nil, v) }; var tune = Tune; func Area() int { return v.n }`, "x/calc.all"},
		{"through a value in a context", `IMPORT "context"; var v = map[string]int{}; type k struct{}; func Tune(ctx context.Context) { ctx = context.WithValue(ctx, k{}, v); ctx.Value(k{}).(map[string]int)["a"] = 1 }; var tune = Tune; func Area() int { return v["a"] }`, "x/calc.v"},
		{"by a deferred method", `type c struct{ n int }; func (c *c) inc() { c.n++ }; var v c; func Tune() { defer v.inc() }; var tune = Tune; func Area() int { return v.n }`, "x/calc.c.inc"},
		{"by a method of an embedded type", `type c struct{ n int }; func (c *c) inc() { c.n++ }; type d struct{ c }; var v d; func Tune() { v.inc() }; var tune = Tune; func Area() int { return v.n }`, "x/calc.c.inc"},
		{"by a method expression", `type c struct{ n int }; func (c *c) inc() { c.n++ }; var v c; func Tune() { (*c).inc(&v) }; var tune = Tune; func Area() int { return v.n }`, "x/calc.c.inc"},
		{"by a function in a variable", `var v = map[string]int{}; var f = func(m map[string]int) { m["a"] = 1 }; func Tune() { f(v) }; var tune = Tune; func Area() int { return v["a"] }`, "x/calc.v"},
		{"by a struct's function", `var v = map[string]int{}; type h struct{ f func(map[string]int) }; func Tune(x h) { x.f(v) }; var tune = Tune; func Area() int { return v["a"] }`, "x/calc.v"},
		{"through reflection", `IMPORT "reflect"; var v = 1; func Tune() { reflect.ValueOf(&v).Elem().SetInt(3) }; var tune = Tune; func Area() int { return v }`, "reflect.ValueOf"},
		{"scanned", `IMPORT "fmt"; var v = 1; func Tune() { fmt.Sscan("3", &v) }; var tune = Tune; func Area() int { return v }`, "fmt.Sscan"},
		{"by a flag", `IMPORT "flag"; var v = 1; func init() { flag.IntVar(&v, "v", 1, "") }; func Area() int { return v }`, "flag.IntVar"},
		{"kept by a buffer", `IMPORT "bytes"; var v = []byte("abc"); var b = bytes.NewBuffer(v); func Tune() { b.Reset(); b.WriteByte('x') }; var tune = Tune; func Area() string { return string(v) }`, "x/calc"},
		{"a memo", `var v = map[int]int{}; func Area(n int) int { if x, ok := v[n]; ok { return x }; v[n] = n; return n }`, "x/calc.Area"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := "package calc\n\nimport \"embed\"\n"
			parts := strings.Split(c.text, "; ")
			for len(parts) > 0 && strings.HasPrefix(parts[0], "IMPORT ") {
				text += "import " + strings.TrimPrefix(parts[0], "IMPORT ") + "\n"
				parts = parts[1:]
			}
			text += "\n//go:embed *.go\nvar files embed.FS\n\n" + strings.Join(parts, "; ") + "\n"
			_, err := parsedText(t, map[string]string{"x/calc": text}).identify(Function{Package: "x/calc", Symbol: "Area"}, Declared{})
			var refusal *RefusalError
			switch {
			case c.refused == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.refused != "" && !errors.As(err, &refusal):
				t.Errorf("not refused: %v", err)
			case c.refused != "" && !strings.Contains(err.Error(), c.refused):
				t.Errorf("refused without the words %q: %v", c.refused, err)
			}
		})
	}
}
