package codec_test

import (
	"bytes"
	"image"
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/codec"
)

// by returns a codec that is known to be registered.
func by(t testing.TB, ext string) codec.Codec {
	t.Helper()
	c, ok := codec.ByExtension(ext)
	if !ok {
		t.Fatalf("no codec for %s", ext)
	}
	return c
}

type m = map[string]any

// wide is an integer of any size.
func wide(s string) *big.Int {
	n, _ := new(big.Int).SetString(s, 10)
	return n
}

func TestDecodeDocuments(t *testing.T) {
	tests := []struct {
		ext, text string
		want      any
	}{
		{"json", `{"a":[1,2.5,"x",null,true]}`, m{"a": []any{int64(1), 2.5, "x", nil, true}}},
		{"json", "1.0", 1.0},
		{"json", "-9223372036854775808", int64(math.MinInt64)},
		{"json", "9223372036854775808", wide("9223372036854775808")},
		{"json", "[-9223372036854775809, 18446744073709551615, -0, 123e-2]", []any{wide("-9223372036854775809"), wide("18446744073709551615"), int64(0), 1.23}},
		{"json", "[Infinity, -Infinity]", []any{math.Inf(1), math.Inf(-1)}},
		{"json", `["\ud83d\ude00\u00e9\n", ""]`, []any{"\U0001f600\u00e9\n", ""}},
		{"json", "1e2", 100.0},
		{"json", " null\n", nil},
		{"yaml", "letter: y\ncolor: n\na: yes\nb: Off", m{"letter": "y", "color": "n", "a": "yes", "b": "Off"}},
		{"yaml", "[true, False, NULL, ~, null]", []any{true, false, nil, nil, nil}},
		{"yaml", "[0777, 0o17, 0x1F, -5, +5, 1_000, 0b11, 12:30:45]", []any{int64(777), int64(15), int64(31), int64(-5), int64(5), "1_000", "0b11", "12:30:45"}},
		{"yaml", "[1.5, 1., .5, 1e3, -.inf, .Inf, 9223372036854775808, 0xffffffffffffffff]", []any{1.5, 1.0, 0.5, 1000.0, math.Inf(-1), math.Inf(1), wide("9223372036854775808"), wide("18446744073709551615")}},
		{"yaml", "1: a\n08: b\ntrue: c\n1.5: d\n-0x1F: e\n2001-01-01: f\n~: g", m{"1": "a", "08": "b", "true": "c", "1.5": "d", "-0x1F": "e", "2001-01-01": "f", "~": "g"}},
		{"yaml", "a: 2001-01-01\nb: '5'\nc: \"true\"\nd: |\n  1\n", m{"a": "2001-01-01", "b": "5", "c": "true", "d": "1\n"}},
		{"yaml", "[!!str 1, !!int '2', !!float 3, !!binary aGk=, !!null '', !!bool 'true']", []any{"1", int64(2), 3.0, []byte("hi"), nil, true}},
		{"yaml", "a: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}\nf: {<<: [*x, {b: 2, g: 3}]}", m{"a": m{"b": int64(1)}, "c": m{"b": int64(1)}, "d": m{"b": int64(1), "e": int64(2)}, "f": m{"b": int64(1), "g": int64(3)}}},
		{"yaml", "", nil},
		{"yaml", "# nothing\n", nil},
		{"yaml", "---\n...\n", nil},
		{"txt", "caf\u00e9\n", "caf\u00e9\n"},
		{"csv", "\ufeffa,b\r\n1,\"x,\"\"y\"\nz,\n", codec.Table{Columns: []string{"a", "b"}, Rows: [][]string{{"1", `x,"y`}, {"z", ""}}}},
		{"csv", "", codec.Table{}},
		{"csv", ",a,,\n0,1,2,3\n", codec.Table{Columns: []string{"column_1", "a", "column_3", "column_4"}, Rows: [][]string{{"0", "1", "2", "3"}}}},
	}
	for _, test := range tests {
		got, err := by(t, test.ext).Decode([]byte(test.text))
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s %q:\n%#v, %v\nwant %#v", test.ext, test.text, got, err, test.want)
		}
	}
	if got, err := by(t, "yaml").Decode([]byte(".nan")); err != nil || !math.IsNaN(got.(float64)) {
		t.Errorf(".nan: %v, %v", got, err)
	}
}

// bomb represents 10 to the power of levels values.
func bomb(levels int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < levels; i++ {
		alias := "*a" + string(rune('0'+i-1))
		b.WriteString("a" + string(rune('0'+i)) + ": &a" + string(rune('0'+i)) + " [" + strings.Repeat(alias+",", 9) + alias + "]\n")
	}
	return b.String()
}

func TestDecodeErrorsSayWhatIsWrong(t *testing.T) {
	tests := []struct{ ext, text, want string }{
		{"json", "{\n\"a\": }", "line 2"},
		{"json", "1 2", "data after the value"},
		{"json", "\ufeff1", "byte order mark"},
		{"yaml", "a: ! 1", "unsupported tag !"},
		{"json", "", "unexpected end, expected a value"},
		{"json", "1e999", "exceeds 64 bits"},
		{"json", "\"\xff\"", "column 2: byte 0xff is not UTF-8"},
		{"json", strings.Repeat("[", 20000), "nested deeper"},
		{"json", "{\"a\": 1,\n\"a\": 2}", `line 2, column 1: duplicate key "a"`},
		{"json", "[\n\"\\ud800\"]", `line 2, column 2: lone surrogate \ud800`},
		{"json", `"\ud800\u0041"`, "lone surrogate"},
		{"json", `"\udc00"`, "lone surrogate"},
		{"json", "[nan]", "unexpected 'n', expected a value"},
		{"json", "[-inf]", "not a number"},
		{"json", "01", "not a number"},
		{"json", "[1,]", "expected a value"},
		{"json", "\"a\nb\"", "control character"},
		{"json", "\x00", "expected a value"},
		{"json", strings.Repeat("9", 5000), "5000 digits"},
		{"yaml", strings.Repeat("9", 5000), "5000 digits"},
		{"yaml", "5: a\n'5': b", `line 2: duplicate key "5"`},
		{"yaml", "[x]: 1", `line 1: the key is a list`},
		{"yaml", ": 1", `key "" is not a string`},
		{"yaml", "a: 1\nb: 2\na: 3", `line 3: duplicate key "a"`},
		{"yaml", "a: 1\n---\nb: 2", "second document"},
		{"yaml", "a: !python/object x", "!python/object"},
		{"yaml", "a: !!set {x}", "!!set"},
		{"yaml", "a: !!int x", "not a !!int"},
		{"yaml", "x: &a [1, *a]", "alias"},
		{"yaml", "<<: 1", "needs a mapping"},
		{"yaml", "a: \xff", "column 4: byte 0xff"},
		{"yaml", "a: [", "yaml"},
		{"yaml", bomb(9), "aliases expand to"},
		{"yaml", strings.Repeat("[", 5000), "yaml"},
		{"txt", "ab\xffc", "column 3: byte 0xff is not UTF-8"},
		{"csv", "a,a\n", `two columns are named "a"`},
		{"csv", "a,b\n1\n", "line 2"},
		{"csv", "a\n\"", "csv"},
	}
	for _, test := range tests {
		v, err := by(t, test.ext).Decode([]byte(test.text))
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), test.ext+": ") {
			t.Errorf("%s %.60q: %v, %v; want %q", test.ext, test.text, v, err, test.want)
		}
	}
}

func TestEncodeDocuments(t *testing.T) {
	tests := []struct {
		ext  string
		v    any
		want string
	}{
		{"json", m{"b": []any{1.0, -0.5, int64(1), nil, "<"}, "a": m{}}, `{"a":{},"b":[1.0,-0.5,1,null,"<"]}`},
		{"json", math.Copysign(0, -1), "-0.0"},
		{"json", 1e21, "1e+21"},
		{"json", m{"a": wide("18446744073709551616")}, `{"a":18446744073709551616}`},
		{"yaml", m{"a": wide("18446744073709551616")}, "a: 18446744073709551616\n"},
		{"json", image.Rect(1, 2, 3, 4), `{"Min":{"X":1,"Y":2},"Max":{"X":3,"Y":4}}`},
		{"json", []string{"\ufffd", `\ufffd`}, "[\"\ufffd\",\"\\\\ufffd\"]"},
		{"json", struct {
			A int `json:"x"`
		}{1}, `{"x":1}`},
		{"yaml", m{"letter": "y", "b": "on", "a": "plain text", "c": ""}, "a: plain text\nb: \"on\"\nc: \"\"\nletter: \"y\"\n"},
		{"yaml", m{"y": []any{"0777", "1:30", "2001-01-01", "~", "null", "=", "x: y", "a\nb", " x", "x ", "-"}}, "\"y\":\n- \"0777\"\n- \"1:30\"\n- \"2001-01-01\"\n- \"~\"\n- \"null\"\n- \"=\"\n- \"x: y\"\n- \"a\\nb\"\n- \" x\"\n- \"x \"\n- \"-\"\n"},
		{"yaml", []any{1.0, 1e21, 1e-7, math.Inf(1), math.NaN(), int64(1), true, nil}, "- 1.0\n- 1.0e+21\n- 1.0e-07\n- .inf\n- .nan\n- 1\n- true\n- null\n"},
		{"yaml", m{"a": m{}, "b": []any{}}, "a: {}\nb: []\n"},
		{"yaml", struct {
			B string `yaml:"x"`
			A map[int]string
		}{"no", nil}, "a: {}\nx: \"no\"\n"},
		{"yaml", map[string]int{"a": 1}, "a: 1\n"},
		{"yaml", m{"a": []uint64{math.MaxUint64}}, "a:\n- 18446744073709551615\n"},
		{"yaml", struct{ B, A any }{[]string{"y", "1"}, 1e21}, "a: 1.0e+21\nb:\n- \"y\"\n- \"1\"\n"},
		{"csv", codec.Table{Columns: []string{"a"}, Rows: [][]string{{""}, {"x,y"}}}, "a\n\"\"\n\"x,y\"\n"},
		{"txt", "x", "x"},
	}
	for _, test := range tests {
		got, err := by(t, test.ext).Encode(test.v)
		if err != nil || string(got) != test.want {
			t.Errorf("%s %#v:\n%s, %v\nwant\n%s", test.ext, test.v, got, err, test.want)
		}
	}
}

func TestEncodeRefusesWhatWouldChange(t *testing.T) {
	endless := m{}
	endless["x"] = []any{endless}
	a := &array.Array{DType: array.Uint8, Shape: []int{1}, Data: []byte{1}}
	foreign := []any{a, *a, map[string]*array.Array{"a": a}, []any{a}, m{"a": a}, struct{ A []*array.Array }{}, image.NewRGBA(image.Rect(0, 0, 1, 1)), &array.GrayAlpha{}, codec.Table{}}
	for ext, values := range map[string][]any{
		"json": append([]any{"\xff", m{"\xff": 1}, []any{"\xff"}, []string{`\\`, "\xff"}, map[string]string{"\xff": ""}, math.NaN(), math.Inf(1), endless}, foreign...),
		"yaml": append([]any{"\xff", m{"\xff": 1}, endless, map[int]int{1: 2}}, foreign...),
		"txt":  {"\xff", 1, nil},
		"csv":  {codec.Table{Columns: []string{"a", "a"}}, codec.Table{Columns: []string{"a", ""}}, codec.Table{Columns: []string{"a"}, Rows: [][]string{{}}}, codec.Table{Columns: []string{"\xff"}}},
	} {
		for _, v := range values {
			if b, err := by(t, ext).Encode(v); err == nil {
				t.Errorf("%s: %.40q was written", ext, b)
			}
		}
	}
}

// documents draws values that documents decode to.
func documents(special bool) *rapid.Generator[any] {
	var document *rapid.Generator[any]
	floats := rapid.Float64()
	if !special {
		floats = rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64)
	}
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"y", "No", "0777", "1e3", "", "null", "~", "- x", "a: b", "#", "!x", "<<", "1:2", "\u2028", "\ufeff", "\x00", "\x7f", "\u0085"}))
	document = rapid.Deferred(func() *rapid.Generator[any] {
		return rapid.OneOf(
			rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.Int64().AsAny(), rapid.Custom(drawWide).AsAny(), floats.AsAny(), text.AsAny(),
			rapid.SliceOfN(document, 0, 3).AsAny(), rapid.MapOfN(text, document, 0, 3).AsAny(),
		)
	})
	return document
}

// drawWide draws an integer that overflows int64.
func drawWide(t *rapid.T) *big.Int {
	n := new(big.Int).SetBytes(append([]byte{1}, rapid.SliceOfN(rapid.Byte(), 8, 20).Draw(t, "wide")...))
	if rapid.Bool().Draw(t, "negative") {
		n.Neg(n)
	}
	return n
}

// equalBig compares numbers of any size.
var equalBig = cmp.Comparer(func(a, b *big.Int) bool { return a.Cmp(b) == 0 })

func TestDocumentsComeBack(t *testing.T) {
	for _, ext := range []string{"json", "yaml"} {
		gen := documents(ext == "yaml")
		t.Run(ext, rapid.MakeCheck(func(t *rapid.T) {
			c, _ := codec.ByExtension(ext)
			v := gen.Draw(t, "v")
			b, err := c.Encode(v)
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.Decode(b)
			if err != nil {
				t.Fatalf("%q: %v", b, err)
			}
			if diff := cmp.Diff(v, got, cmpopts.EquateNaNs(), equalBig); diff != "" {
				t.Fatalf("%q: %s", b, diff)
			}
			if again, err := c.Encode(got); err != nil || !bytes.Equal(b, again) {
				t.Fatalf("%q and then %q, %v", b, again, err)
			}
		}))
	}
}

func TestTablesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		field := rapid.StringMatching(`[ a",;\r\n#\x{feff}]{0,4}`)
		name := rapid.StringMatching(`[ a",;\r\n#\x{feff}]{1,4}`)
		want := codec.Table{Columns: rapid.SliceOfNDistinct(name, 1, 3, rapid.ID[string]).Draw(t, "columns")}
		for range rapid.IntRange(0, 3).Draw(t, "rows") {
			want.Rows = append(want.Rows, rapid.SliceOfN(field, len(want.Columns), len(want.Columns)).Draw(t, "row"))
		}
		c, _ := codec.ByExtension("csv")
		b, err := c.Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Decode(b)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %#v, %v; want %#v", b, got, err, want)
		}
		for i, row := range want.Maps() {
			for j, column := range want.Columns {
				if row[column] != want.Rows[i][j] {
					t.Fatalf("row %d: %v", i, row)
				}
			}
		}
	})
}

func TestDecodeInto(t *testing.T) {
	type label struct {
		Letter string `json:"letter" yaml:"letter"`
		Count  int    `json:"count" yaml:"count"`
		Left   bool
	}
	for ext, text := range map[string]string{
		"json": `{"letter":"y","count":3,"more":0}`,
		"yaml": "letter: y\ncount: 3\nmore: 0\n",
	} {
		c := by(t, ext)
		got := label{Left: true}
		if err := codec.DecodeInto(c, []byte(text), &got); err != nil || got != (label{"y", 3, true}) {
			t.Errorf("%s: %+v, %v", ext, got, err)
		}
		var doc map[string]any
		if err := codec.DecodeInto(c, []byte(text), &doc); err != nil || doc["count"] != int64(3) {
			t.Errorf("%s: %v, %v", ext, doc, err)
		}
		var list []any
		if err := codec.DecodeInto(c, []byte(text), &list); err == nil {
			t.Errorf("%s: a mapping was read into a list: %v", ext, list)
		}
		var wrong struct {
			Letter int `json:"letter" yaml:"letter"`
		}
		if err := codec.DecodeInto(c, []byte(text), &wrong); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%s: text was read into an int: %v", ext, err)
		}
	}
	if err := codec.DecodeInto(by(t, "yaml"), []byte(bomb(9)), &struct{ A8 any }{}); err == nil {
		t.Error("aliases without bounds were read into a struct")
	}
	var s string
	if err := codec.DecodeInto(by(t, "txt"), []byte("x"), &s); err != nil || s != "x" {
		t.Errorf("%q, %v", s, err)
	}
	var n int
	if err := codec.DecodeInto(by(t, "txt"), []byte("x"), &n); err == nil {
		t.Error("text was read into an int")
	}
	for _, ptr := range []any{nil, 1, (*int)(nil)} {
		if err := codec.DecodeInto(by(t, "json"), []byte("1"), ptr); err == nil {
			t.Errorf("decoded into %v", ptr)
		}
	}
}
