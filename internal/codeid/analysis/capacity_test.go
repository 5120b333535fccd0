package analysis

import "testing"

// TestSpaceOfPools checks that code does not depend on the capacity of slices from a sync.Pool. Each case is the use of a
// list, a pointer to one, or a buffer by Area.
func TestSpaceOfPools(t *testing.T) {
	const (
		list   = `IMPORT "sync"; var v = sync.Pool{New: func() any { return make([]byte, 0, 8) }}; `
		lists  = `IMPORT "sync"; var v = sync.Pool{New: func() any { s := make([]byte, 0, 8); return &s }}; `
		buffer = `IMPORT "bytes"; IMPORT "sync"; var v = sync.Pool{New: func() any { return new(bytes.Buffer) }}; `
		got    = `p := v.Get().(*[]byte); defer v.Put(p); `
		reset  = `b := v.Get().(*bytes.Buffer); b.Reset(); defer v.Put(b); `
		seen   = "the capacity beyond the length of a slice from a sync.Pool"
	)
	area := func(does string) string { return "func Area(x string) string { " + does + " }" }
	for _, c := range []struct{ name, text, refused string }{
		// The capacity is not visible.
		{"a list that grows", lists + area(got+`b := (*p)[:0]; for i := range 3 { b = append(b, x[i]) }; s := string(b); *p = b; return s`), ""},
		{"a list that is put back later", lists + area(`p := v.Get().(*[]byte); b := (*p)[:0]; defer func() { *p = b; v.Put(p) }(); b = append(b, x...); return string(b)`), ""},
		{"a list by its pointer", lists + area(`p := v.Get().(*[]byte); *p = (*p)[:0]; defer v.Put(p); *p = append(*p, x...); (*p)[0] = 1; return string(*p)`), ""},
		{"a list that is not a pointer", list + area(`b := v.Get().([]byte)[:0]; b = append(b, x...); s := string(b); v.Put(b); return s`), ""},
		{"a list that functions extend", `IMPORT "strconv"; ` + lists + `func add(b []byte, n int) []byte { if n < 0 { return b }; b = append(b, 'n'); return strconv.AppendInt(b, int64(n), 10) }; ` + area(got+`b := (*p)[:0]; b = add(b, 3); b = add(b, len(b)); for i, c := range b { b[i] = c + 1 }; s := string(b); *p = b; return s`), ""},
		{"a list that the library reads", `IMPORT "crypto/sha256"; IMPORT "encoding/hex"; IMPORT "fmt"; ` + lists + area(got+`b := append((*p)[:0], x...); h := sha256.New(); h.Write(b); return fmt.Sprint(hex.EncodeToString(b), sha256.Sum256(b), h.Size())`), ""},
		{"a list of what is summed", lists + `func sum(b []byte) (n int) { for _, c := range b { n += int(c) }; return n }; ` + area(got+`b := append((*p)[:0], x...); if sum(b[1:]) > 3 { return "a" }; *p = b; return "b"`), ""},
		{"a buffer", `IMPORT "fmt"; IMPORT "io"; IMPORT "encoding/json"; ` + buffer + `func put(w io.Writer, x string) { io.WriteString(w, x); fmt.Fprint(w, x) }; ` + area(reset+`put(b, x); json.NewEncoder(b).Encode(x); if b.Len() > 3 { b.Truncate(2) }; return b.String() + string(b.Bytes())`), ""},
		{"a buffer that is filled, next to a Read of records", `IMPORT "strings"; ` + buffer + `type r struct{}; func (r) Read() ([]string, error) { return nil, nil }; ` + area(reset+`b.ReadFrom(strings.NewReader(x)); return b.String()`), ""},
		{"a buffer in a literal", `IMPORT "strings"; ` + buffer + area(reset+`strings.Map(func(r rune) rune { b.WriteRune(r); return r }, x); return b.String()`), ""},
		{"a buffer, if there is one", buffer + area(`b, ok := v.Get().(*bytes.Buffer); b.Reset(); if !ok { return x }; b.WriteString(x); return b.String()`), ""},
		{"what a function resets", `IMPORT "sync"; type row struct{ n int }; var v = sync.Pool{New: func() any { return new(row) }}; func reset(r *row) { *r = row{} }; func Area() int { r := v.Get().(*row); reset(r); r.n++; return r.n }`, ""},

		// The capacity is visible.
		{"two lists of one", lists + area(got+`a := append((*p)[:0], "aaaaaaaaaa"...); b := append((*p)[:0], "bb"...); return string(a) + string(b)`), seen},
		{"two lists together", lists + `func both(a, b []byte) string { return string(a) + string(b) }; ` + area(got+`b := (*p)[:0]; return both(append(b, 'a'), append(b, 'b'))`), seen},
		{"a list that others see growing", lists + area(got+`b := (*p)[:0]; c := append(b, 'c'); b = append(b, 'b'); return string(b) + string(c)`), seen},
		{"lists of literals that live on", lists + area(got+`var f func() string; for i := range 2 { b := append((*p)[:0], x[i]); f = func() string { return string(b) } }; return f()`), seen},
		{"a scanner's capacity", `IMPORT "bufio"; IMPORT "strings"; ` + lists + area(got+`s := bufio.NewScanner(strings.NewReader(x)); s.Buffer((*p)[:0], 16); if s.Scan() { return "a" }; return "b"`), seen},
		{"a buffer of a list", `IMPORT "bytes"; IMPORT "fmt"; ` + lists + area(got+`return fmt.Sprint(bytes.NewBuffer((*p)[:0]).Cap())`), seen},
		{"by reflection", `IMPORT "reflect"; ` + lists + area(got+`return string(reflect.ValueOf(append((*p)[:0], "ab"...)).Slice(0, 6).Bytes())`), seen},
		{"by a method of another type", lists + `type stack []byte; func (s stack) push() stack { return s[:len(s)+3] }; ` + area(got+`var g interface{ push() stack } = stack(append((*p)[:0], "ab"...)); return string(g.push())`), seen},
		{"by a method that prints", `IMPORT "fmt"; ` + lists + `type stack []byte; func (s stack) String() string { return string(s[:4]) }; ` + area(got+`return fmt.Sprint(stack(append((*p)[:0], "ab"...)))`), seen},
		{"by a function of any kind", lists + `func space[S ~[]E, E any](s S) int { return cap(s) }; ` + area(got+`b := append((*p)[:0], 'a'); if space(b) > 8 { return "a" }; return "b"`), seen},
		{"by a field", lists + `type text struct{ b []byte }; ` + area(got+`t := text{append((*p)[:0], 'a')}; return string(t.b[:6])`), seen},
		{"by a channel", lists + area(got+`c := make(chan []byte, 1); c <- (*p)[:0]; return string((<-c)[:6])`), seen},
		{"by a Write of one's own", `IMPORT "io"; ` + lists + `type w struct{ n int }; func (w *w) Write(b []byte) (int, error) { w.n = cap(b); return len(b), nil }; ` + area(got+`k := &w{}; var o io.Writer = k; o.Write((*p)[:0]); if k.n > 8 { return "a" }; return "b"`), seen},
		{"a buffer that a Reader fills", `IMPORT "io"; ` + buffer + `type r struct{}; func (r) Read(p []byte) (int, error) { if len(p) > 600 { return 0, io.EOF }; return 1, io.EOF }; ` + area(reset+`b.ReadFrom(r{}); return b.String()`), seen},
		{"a buffer to which is copied", `IMPORT "io"; ` + buffer + `type r struct{}; func (r) Read(p []byte) (int, error) { if len(p) > 600 { return 0, io.EOF }; return 1, io.EOF }; ` + area(reset+`io.Copy(b, r{}); return b.String()`), seen},
		{"a buffer behind an interface", `IMPORT "io"; IMPORT "fmt"; ` + buffer + area(reset+`c, ok := io.Writer(b).(interface{ Cap() int }); return fmt.Sprint(ok, c.Cap())`), seen},
		{"a buffer that is shown", `IMPORT "fmt"; ` + buffer + area(reset+`return fmt.Sprintf("%#v", b)`), seen},
		{"a copy of a buffer", buffer + area(reset+`c := *b; b.WriteString("b"); c.WriteString("c"); return b.String()`), seen},
		{"what a buffer returns grows", buffer + area(reset+`b.WriteString(x); s := b.Bytes(); s = append(s, 'y'); b.WriteString("z"); return string(s)`), seen},
		{"what a buffer returns is extended", buffer + area(reset+`b.WriteString(x); s := b.Bytes(); return string(s[:8])`), seen},
		{"a method of a buffer as a value", `IMPORT "fmt"; ` + buffer + area(reset+`f := b.Cap; return fmt.Sprint(f())`), seen},
		{"a buffer that another function gets", `IMPORT "fmt"; ` + buffer + `func get() *bytes.Buffer { return v.Get().(*bytes.Buffer) }; func put(b *bytes.Buffer) { b.Reset(); v.Put(b) }; ` + area(`b := get(); defer put(b); return fmt.Sprint(b.Cap())`), seen},
		{"a buffer of any type", `IMPORT "fmt"; ` + buffer + `func get() any { return v.Get() }; func put(b *bytes.Buffer) { b.Reset(); v.Put(b) }; ` + area(`b := get().(*bytes.Buffer); defer put(b); return fmt.Sprint(b.Cap())`), seen},
		{"lists of other lengths that are cleared", `IMPORT "sync"; var v = sync.Pool{New: func() any { s := make([]int, 3); return &s }}; func Put() { s := make([]int, 5); v.Put(&s) }; func Area() int { p := v.Get().(*[]int); clear(*p); defer v.Put(p); return len(*p) }`, "an earlier value in a sync.Pool"},
	} {
		t.Run(c.name, func(t *testing.T) { testVariable(t, c.text, c.refused) })
	}
}
