package analysis

import (
	"strings"
	"testing"
)

// TestPoolsAndOnces checks that sync.Pool and sync.Once, whose behavior depends on history, are refused unless used with
// care. Each case is a package with a function Area that uses one.
func TestPoolsAndOnces(t *testing.T) {
	for _, c := range []struct {
		name, text string
		refused    string // words of the refusal; "" for none
	}{
		{"if reset", `IMPORT "bytes"; IMPORT "sync"; var v = sync.Pool{New: func() any { return new(bytes.Buffer) }}; func Area(x int) string { b := v.Get().(*bytes.Buffer); defer v.Put(b); if x > 0 { b.Reset() }; b.WriteString("x"); return b.String() }`, "sync.Pool"},
		{"reset in every case", `IMPORT "bytes"; IMPORT "sync"; var v = sync.Pool{New: func() any { return new(bytes.Buffer) }}; func Area(x int) string { b := v.Get().(*bytes.Buffer); defer v.Put(b); switch { case x > 0: b.Reset(); b.WriteString("y"); default: b.Reset() }; b.WriteString("x"); return b.String() }`, ""},
		{"reset if and else", `IMPORT "bytes"; IMPORT "sync"; var v = sync.Pool{New: func() any { return new(bytes.Buffer) }}; func Area(x int) string { b := v.Get().(*bytes.Buffer); defer v.Put(b); if x > 0 { b.Reset(); b.WriteString("y") } else if x < -1 { b.Reset() } else { b.Reset() }; b.WriteString("x"); return b.String() }`, ""},
		{"reset in some cases", `IMPORT "bytes"; IMPORT "sync"; var v = sync.Pool{New: func() any { return new(bytes.Buffer) }}; func Area(x int) string { b := v.Get().(*bytes.Buffer); defer v.Put(b); switch { case x > 0: b.Reset(); case x < 0: b.Reset() }; b.WriteString("x"); return b.String() }`, "sync.Pool"},
		{"reset in every case, one of which is left before", `IMPORT "bytes"; IMPORT "sync"; var v = sync.Pool{New: func() any { return new(bytes.Buffer) }}; func Area(x int) string { b := v.Get().(*bytes.Buffer); defer v.Put(b); switch { case x > 0: if x > 3 { break }; b.Reset(); default: b.Reset() }; b.WriteString("x"); return b.String() }`, "sync.Pool"},
		{"reset in every case, by which one it is", `IMPORT "bytes"; IMPORT "sync"; var v = sync.Pool{New: func() any { return new(bytes.Buffer) }}; func Area(x int) string { b := v.Get().(*bytes.Buffer); defer v.Put(b); n := 0; switch { case b.Len() > 3: b.Reset(); n = 1; default: b.Reset() }; b.WriteString("x"); return b.String()[n:] }`, "sync.Pool"},
		{"reset if and else if", `IMPORT "bytes"; IMPORT "sync"; var v = sync.Pool{New: func() any { return new(bytes.Buffer) }}; func Area(x int) string { b := v.Get().(*bytes.Buffer); defer v.Put(b); if x > 0 { b.Reset() } else if x < -1 { b.Reset() }; b.WriteString("x"); return b.String() }`, "sync.Pool"},
		{"if put", `IMPORT "bytes"; IMPORT "sync"; var v = sync.Pool{New: func() any { return new(bytes.Buffer) }}; func put(b *bytes.Buffer, c bool) { if c { b.Reset() }; v.Put(b) }; func Area(x int) string { b := v.Get().(*bytes.Buffer); defer put(b, x > 0); b.WriteString("x"); return b.String() }`, "sync.Pool"},
		{"own clear", `IMPORT "sync"; func clear(b []byte) {}; var v = sync.Pool{New: func() any { return new([]byte) }}; func Area(x int) int { b := v.Get().(*[]byte); defer v.Put(b); clear(*b); *b = append(*b, 1); return len(*b) }`, "sync.Pool"},
		{"clear of a slice", `IMPORT "sync"; var v = sync.Pool{New: func() any { return new([]byte) }}; func Area(x int) int { b := v.Get().(*[]byte); defer v.Put(b); clear(*b); *b = append(*b, 1); return len(*b) }`, "sync.Pool"},
		{"own new", `IMPORT "sync"; type buf struct{ n int }; var last buf; func new(int) buf { return last }; var v = sync.Pool{New: func() any { return &buf{} }}; func Area(x int) int { b := v.Get().(*buf); defer v.Put(b); *b = new(1); b.n++; return b.n }`, "sync.Pool"},
		{"len after [:0]", `IMPORT "sync"; var v = sync.Pool{New: func() any { return &[]byte{} }}; func Area(x int) int { p := v.Get().(*[]byte); b := (*p)[:0]; b = append(b, 1); n := len(*p); *p = append(*p, b...); v.Put(p); return n }`, "sync.Pool"},
		{"[:cap]", `IMPORT "sync"; var v = sync.Pool{New: func() any { return &[]byte{} }}; func Area(x int) int { p := v.Get().(*[]byte); b := (*p)[:0]; b = b[:cap(b)]; n := len(b); *p = append(b, 1); v.Put(p); return n }`, "sync.Pool"},
		{"closure before", `IMPORT "sync"; type buf struct{ n int }; var v = sync.Pool{New: func() any { return &buf{} }}; func Area(x int) int { var b *buf; f := func() int { return b.n }; b = v.Get().(*buf); defer v.Put(b); n := f(); *b = buf{}; b.n = 4; return n }`, "sync.Pool"},
		{"after put", `IMPORT "sync"; type buf struct{ n int }; var v = sync.Pool{New: func() any { return &buf{} }}; func Area(x int) int { b := v.Get().(*buf); n := b.n; *b = buf{}; v.Put(b); b.n = 3; return n }`, "sync.Pool"},
		{"reset in a literal", `IMPORT "sync"; IMPORT "bytes"; var v = sync.Pool{New: func() any { return new(bytes.Buffer) }}; func Area(x int) string { b := v.Get().(*bytes.Buffer); defer v.Put(b); defer func() { b.Reset() }(); b.WriteString("x"); if x > 3 { panic(1) }; return b.String() }`, "sync.Pool"},
		{"two pools in one struct", `IMPORT "sync"; type buf struct{ n int }; type two struct { a, b sync.Pool }; var v = &two{a: sync.Pool{New: func() any { return &buf{} }}, b: sync.Pool{New: func() any { return &buf{} }}}; func Area(x int) int { b := v.a.Get().(*buf); n := b.n; b.n = 3; v.a.Put(b); return n }`, "sync.Pool"},
		{"pool by a pointer", `IMPORT "sync"; type buf struct{ n int }; var v = &sync.Pool{New: func() any { return &buf{} }}; func put(p *sync.Pool, b *buf) { p.Put(b) }; func Area(x int) int { b := v.Get().(*buf); n := b.n; b.n = 3; put(v, b); return n }`, "sync.Pool"},
		{"pool method value", `IMPORT "sync"; type buf struct{ n int }; var v = &sync.Pool{New: func() any { return &buf{} }}; func Area(x int) int { b := v.Get().(*buf); n := b.n; b.n = 3; f := v.Put; f(b); return n }`, "sync.Pool"},
		{"pool of a map that is cleared", `IMPORT "sync"; var v = sync.Pool{New: func() any { return map[string]int{} }}; func Area(x string) int { m := v.Get().(map[string]int); defer v.Put(m); clear(m); m[x]++; return m[x] }`, ""},
		{"scratch of a fixed length", `IMPORT "sync"; var v = sync.Pool{New: func() any { s := make([]int, 8); return &s }}; func Area(x int) int { p := v.Get().(*[]int); defer v.Put(p); s := *p; clear(s); s[x%8]++; return s[0] }`, "sync.Pool"},
		{"once printed", `IMPORT "sync"; IMPORT "fmt"; type lazy struct { n int; once sync.Once }; func (l *lazy) load() int { l.once.Do(func() { l.n = 3 }); return l.n }; var v = &lazy{}; var load = v.load; func Area() string { return fmt.Sprint(v) }`, "x"},
		{"once fields encoded", `IMPORT "sync"; IMPORT "encoding/json"; type lazy struct { N int; once sync.Once }; func (l *lazy) load() int { l.once.Do(func() { l.N = 3 }); return l.N }; var v = &lazy{}; var load = v.load; func Area() string { b, _ := json.Marshal(v); return string(b) }`, "x"},
		{"once goto", `IMPORT "sync"; var once sync.Once; var v int; func get(n int) int { if n > 0 { goto out }; once.Do(func() { v = 3 }); out: return v }; func Area(n int) int { return get(n) }`, "x"},
		{"once two fills", `IMPORT "sync"; var once sync.Once; var v int; func a() int { once.Do(func() { v = 3 }); return v }; func b() int { once.Do(func() { v = 4 }); return v }; var use = b; func Area(n int) int { return a() }`, "x"},
		{"once is reset", `IMPORT "sync"; var once sync.Once; var v int; var n int; func a() int { once.Do(func() { v++ }); return v }; func Tune() { once = sync.Once{}; a() }; var tune = Tune; func Area(n int) int { return a() }`, "x"},
		{"once in an array", `IMPORT "sync"; var onces [2]sync.Once; var v int; func a() int { onces[0].Do(func() { v = 3 }); return v }; var use = a; func Area(n int) int { onces[1].Do(func() {}); return v }`, "x"},
		{"once by a pointer that is replaced", `IMPORT "sync"; var once = new(sync.Once); var v int; func a() int { once.Do(func() { v++ }); return v }; func Tune() { once = new(sync.Once); a() }; var tune = Tune; func Area(n int) int { return a() }`, "x"},
		{"once base replaced", `IMPORT "sync"; type lazy struct { n int; once sync.Once }; func (l *lazy) load() { l.once.Do(func() { l.n = 3 }) }; var v, w = &lazy{}, &lazy{}; var load = v.load; func get(l *lazy) int { l.once.Do(func() { l.n = 3 }); l = v; return l.n }; func Area() int { return get(w) }`, "x"},
		{"once deep panic", `IMPORT "sync"; var once sync.Once; var v int; func boom() { panic(1) }; func fill() { boom(); v = 1 }; func try() { defer func() { recover() }(); once.Do(fill) }; func Area() int { n := 0; func() { defer func() { if recover() != nil { n = 7 } }(); once.Do(fill) }(); return n + v }; var use = try`, "x"},
		{"once after in the same literal", `IMPORT "sync"; var once sync.Once; var v int; func get() (f func() int) { f = func() int { return v }; once.Do(func() { v = 3 }); return f }; func Area() int { return get()() }`, "x/calc.v"},
		{"once with a loop in it", `IMPORT "sync"; var once sync.Once; var v int; func fill() { for i := range 3 { v += i } }; func get() int { once.Do(fill); return v }; func Area() int { return get() }; var again = get`, ""},
		{"filled by once and again by others", `IMPORT "sync"; var once sync.Once; var v int; func fill() { v++ }; func get() int { once.Do(fill); return v }; func Area() int { return get() }; var again = fill`, "x"},
		{"once that counts calls", `IMPORT "sync"; var once sync.Once; func Area() (n int) { once.Do(func() { n = 3 }); return n }`, "x"},
		{"once that sends", `IMPORT "sync"; var once sync.Once; var c = make(chan int, 9); func Area() (n int) { once.Do(func() { c <- 1 }); select { case n = <-c: default: }; return n }`, "x"},
		{"oncevalue with argument state", `IMPORT "sync"; func mk(n int) func() int { return sync.OnceValue(func() int { return n }) }; var f func() int; func Area(n int) int { if f == nil { f = mk(n) }; return f() }`, "x"},
		{"once in a local struct that lives on", `IMPORT "sync"; type l struct{ o sync.Once; n int }; var m = map[string]*l{"a": {}}; func Area(n int) int { x := m["a"]; x.o.Do(func() { x.n = n }); return x.n }`, "x"},
		{"once whose function calls by interface", `IMPORT "sync"; type src interface{ get() int }; type one int; func (o one) get() int { return int(o) }; var once sync.Once; var v int; func fill(s src) int { once.Do(func() { v = s.get() }); return v }; func Area(n int) int { return fill(one(n)) }`, "x"},
		{"mutex TryLock", `IMPORT "sync"; var mu sync.Mutex; func Area(n int) bool { return mu.TryLock() }`, "x"},
		{"a WaitGroup / cond state", `IMPORT "sync"; var mu sync.RWMutex; func Area(n int) bool { l := mu.RLocker(); l.Lock(); return mu.TryRLock() }`, "x"},
		{"context state", `IMPORT "context"; var ctx, cancel = context.WithCancel(context.Background()); func Area(n int) bool { return ctx.Err() != nil }; var c = cancel`, "x"},
		{"sync.Map", `IMPORT "sync"; var m sync.Map; func Area(n int) bool { _, loaded := m.LoadOrStore(n, 1); return loaded }`, "x"},
		{"atomic", `IMPORT "sync/atomic"; var m atomic.Int64; func Area(n int) int64 { return m.Add(1) }`, "x"},
		{"timer", `IMPORT "time"; var m = time.NewTimer(1); func Area(n int) bool { return m.Stop() }`, "x"},
		{"closed channel", `var c = make(chan int); func Area(n int) bool { select { case <-c: return true; default: return false } }; func Tune() { close(c) }; var tune = Tune`, "x"},
		{"len of a channel", `var c = make(chan int, 5); func Area(n int) int { return len(c) }; func Tune() { c <- 1 }; var tune = Tune`, "x"},
		{"once in a closure", `IMPORT "sync"; func mk() func(int) int { var o sync.Once; var r int; return func(x int) int { o.Do(func() { r = x }); return r } }; var f = mk(); func Area(n int) int { return f(n) }`, "x"},
		{"once in a closure, counted", `IMPORT "sync"; func mk() func(int) int { var o sync.Once; return func(x int) int { k := 0; o.Do(func() { k = x }); return k } }; var f = mk(); func Area(n int) int { return f(n) }`, "x"},
		{"once in a map", `IMPORT "sync"; var os = map[string]*sync.Once{"a": {}}; func Area(n int) (k int) { os["a"].Do(func() { k = n }); return k }`, "x"},
		{"once of a function", `IMPORT "sync"; var once sync.Once; func o() *sync.Once { return &once }; func Area(n int) (k int) { o().Do(func() { k = n }); return k }`, "x"},
		{"once by a local pointer", `IMPORT "sync"; var once sync.Once; func Area(n int) (k int) { o := &once; o.Do(func() { k = n }); return k }`, "x"},
		{"once embedded", `IMPORT "sync"; type l struct { sync.Once }; var x l; func Area(n int) (k int) { x.Do(func() { k = n }); return k }`, "x"},
		{"once embedded by a pointer", `IMPORT "sync"; type l struct { *sync.Once }; var x = l{new(sync.Once)}; func Area(n int) (k int) { x.Do(func() { k = n }); return k }`, "x"},
		{"once argument", `IMPORT "sync"; var once sync.Once; func do(o *sync.Once, n int) (k int) { o.Do(func() { k = n }); return k }; func Area(n int) (k int) { return do(&once, n) }`, "x"},
		{"once as method expression", `IMPORT "sync"; var once sync.Once; func Area(n int) (k int) { (*sync.Once).Do(&once, func() { k = n }); return k }`, "x"},
		{"once local", `IMPORT "sync"; func Area(n int) (k int) { var o sync.Once; for range 3 { o.Do(func() { k += n }) }; return k }`, ""},
		{"once by generic", `IMPORT "sync"; type doer interface{ Do(func()) }; func do[T doer](o T, n int) (k int) { o.Do(func() { k = n }); return k }; var once sync.Once; func Area(n int) (k int) { return do(&once, n) }`, "x"},
		{"pool by interface", `IMPORT "sync"; type p interface{ Get() any; Put(any) }; var v sync.Pool; func Area(n int) any { var q p = &v; x := q.Get(); q.Put(n); return x }`, "x"},
		{"pool argument", `IMPORT "sync"; var v sync.Pool; func get(p *sync.Pool, n int) any { x := p.Get(); p.Put(n); return x }; func Area(n int) any { return get(&v, n) }`, "x"},
		{"pool in a map", `IMPORT "sync"; IMPORT "bytes"; var v = map[string]*sync.Pool{"a": {New: func() any { return new(bytes.Buffer) }}}; func Area(n int) any { x := v["a"].Get().(*bytes.Buffer); x.WriteByte(1); v["a"].Put(x); return x.Len() }`, "x"},
		{"pool embedded", `IMPORT "sync"; IMPORT "bytes"; type q struct { sync.Pool }; var v q; func Area(n int) int { x, _ := v.Get().(*bytes.Buffer); if x == nil { x = new(bytes.Buffer) }; x.WriteByte(1); v.Put(x); return x.Len() }`, "x"},
		{"pool local closure", `IMPORT "sync"; IMPORT "bytes"; func mk() func() int { p := &sync.Pool{New: func() any { return new(bytes.Buffer) }}; return func() int { x := p.Get().(*bytes.Buffer); x.WriteByte(1); n := x.Len(); p.Put(x); return n } }; var v = mk(); func Area(n int) int { return v() }`, "x"},
		{"pool wrapper type generic", `IMPORT "sync"; type pool[T any] struct { p sync.Pool }; func (p *pool[T]) get() *T { if x, ok := p.p.Get().(*T); ok { return x }; return new(T) }; func (p *pool[T]) put(x *T) { p.p.Put(x) }; var v pool[int]; func Area(n int) int { x := v.get(); *x++; n = *x; v.put(x); return n }`, "x"},
		{"reset where it is used, at each turn", `IMPORT "sync"; var v = sync.Pool{New: func() any { return new([]int) }}; func Area(n int) (sum int) { p := v.Get().(*[]int); defer v.Put(p); for i := range n { *p = (*p)[:0]; *p = append(*p, i); sum += len(*p) }; return sum }`, ""},
		{"reset at each turn, and read after them", `IMPORT "sync"; var v = sync.Pool{New: func() any { return new([]int) }}; func Area(n int) int { p := v.Get().(*[]int); defer v.Put(p); for i := range n { *p = (*p)[:0]; *p = append(*p, i) }; return len(*p) }`, "sync.Pool"},
		{"reset at each turn, of which the condition reads", `IMPORT "sync"; var v = sync.Pool{New: func() any { return new([]int) }}; func Area(n int) (k int) { p := v.Get().(*[]int); defer v.Put(p); for len(*p) < n { *p = (*p)[:0]; *p = make([]int, n); k++ }; return k }`, "sync.Pool"},
		{"reset by the method of what it embeds", `IMPORT "bytes"; IMPORT "sync"; type buf struct { bytes.Buffer; n int }; var v = sync.Pool{New: func() any { return new(buf) }}; func Area(n int) int { p := v.Get().(*buf); defer v.Put(p); p.Reset(); p.n++; return p.n }`, "sync.Pool"},
		{"a writer that keeps how it was made", `IMPORT "bytes"; IMPORT "compress/gzip"; IMPORT "sync"; var v = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}; func Fast() { w, _ := gzip.NewWriterLevel(nil, 1); v.Put(w) }; var fast = Fast; func Area(n int) int { w := v.Get().(*gzip.Writer); defer v.Put(w); var b bytes.Buffer; w.Reset(&b); w.Write(make([]byte, n)); w.Close(); return b.Len() }`, "sync.Pool"},
		{"a hash behind an interface", `IMPORT "crypto/sha256"; IMPORT "hash"; IMPORT "sync"; var v = sync.Pool{New: func() any { return sha256.New() }}; func Area(n int) []byte { h := v.Get().(hash.Hash); defer v.Put(h); h.Reset(); h.Write([]byte{byte(n)}); return h.Sum(nil) }`, ""},
		{"a hash behind an interface, or something else", `IMPORT "crypto/sha256"; IMPORT "hash"; IMPORT "sync"; type other struct { hash.Hash; n byte }; func (o *other) Reset() {}; var v = sync.Pool{New: func() any { return sha256.New() }}; func Tune() { v.Put(&other{Hash: sha256.New()}) }; var tune = Tune; func Area(n int) []byte { h := v.Get().(hash.Hash); defer v.Put(h); h.Reset(); h.Write([]byte{byte(n)}); return h.Sum(nil) }`, "sync.Pool"},
		{"a reset that keeps something", `IMPORT "sync"; type buf struct { n, m int }; var v = sync.Pool{New: func() any { return new(buf) }}; func Area(n int) int { p := v.Get().(*buf); defer v.Put(p); *p = buf{n: p.m}; p.m += n; return p.n }`, "sync.Pool"},
		{"a buffer whose capacity is requested", `IMPORT "bytes"; IMPORT "sync"; var v = sync.Pool{New: func() any { return new(bytes.Buffer) }}; func Area(n int) int { b := v.Get().(*bytes.Buffer); defer v.Put(b); b.Reset(); b.Write(make([]byte, n)); return b.Cap() }`, "sync.Pool"},
		{"a buffer whose capacity is read by what it is passed to", `IMPORT "bytes"; IMPORT "sync"; func left(b *bytes.Buffer) int { return len(b.AvailableBuffer()[:1]) }; var v = sync.Pool{New: func() any { return new(bytes.Buffer) }}; func Area(n int) int { b := v.Get().(*bytes.Buffer); defer v.Put(b); b.Reset(); b.Write(make([]byte, n)); return left(b) }`, "sync.Pool"},
		{"put back within a loop", `IMPORT "sync"; type buf struct { n int }; var v = sync.Pool{New: func() any { return new(buf) }}; func Area(n int) (sum int) { p := v.Get().(*buf); sum = p.n; for range n { p.n++; *p = buf{}; v.Put(p) }; return sum }`, "sync.Pool"},
	} {
		t.Run(c.name, func(t *testing.T) { testVariable(t, c.text, c.refused) })
	}
}

// TestDeclaredPools checks a pool without visible reset that its package declares by name, and another that it does not.
func TestDeclaredPools(t *testing.T) {
	const text = `package calc

import "sync"

type buf struct{ n int }

var pool, other = sync.Pool{New: func() any { return new(buf) }}, sync.Pool{New: func() any { return new(buf) }}

func Area() int { p := pool.Get().(*buf); defer pool.Put(p); return p.n }

func Other() int { p := other.Get().(*buf); defer other.Put(p); return p.n }
`
	for symbol, refused := range map[string]string{"Area": "", "Other": "a sync.Pool, which is not reset"} {
		p := parsedText(t, map[string]string{"x/calc": text}, "x/calc.pool")
		_, err := p.identify(Function{Package: "x/calc", Symbol: symbol}, Declared{})
		if (err == nil) != (refused == "") || err != nil && !strings.Contains(err.Error(), refused) {
			t.Errorf("%s: %v, want %q", symbol, err, refused)
		}
	}
}
