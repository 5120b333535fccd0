package jsontext_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/larder-data/larder/internal/text/jsontext"
)

var texts = []string{
	`{}`, `[]`, ` { } `, `[ ]`, `""`, `0`, `-0`, `-`, `01`, `1.`, `.5`, `1.5e`, `1e+`, `1E-07`, `-1.5e+10`, `+1`, `1 2`, ``, ` `,
	`true`, `tru`, `truex`, `nul`, `null `, "\tfalse\r\n", `NaN`, `Infinity`,
	`{"a":1}`, `{"a":1,}`, `{,}`, `{"a"}`, `{"a":}`, `{"a" : [1 , {"b" : null}] , "c":"d"}`, `{a:1}`, `{"a":1}}`, `[1,]`, `[,1]`, `[1 2]`, `{"a":1 "b":2}`, `[1}`, `{"a":1]`,
	`"a b\n"`, `"\u00e9\ud83d\ude00"`, `"\ud83d"`, `"\u00g0"`, `"\u00`, `"\x"`, `"`, `"\`, `"\"`, "\"a\x00\"", "\"\t\"", "\"\x1f\"", "\"12345678\x1f\"", "\"\x7f\xff\xc3\"", "\ufeff1", "\x00",
	`"}{][,:  \" "`, "{\"a\":1}\x00", "[\x00]", "[1\x00", "{\"a\"\x00:1}", "1\v", "\f1",
	strings.Repeat("[", 10000) + strings.Repeat("]", 10000),
	strings.Repeat("[", 10001) + strings.Repeat("]", 10001),
	strings.Repeat(`{"a":`, 10001) + "1" + strings.Repeat("}", 10001),
}

// agree compares the package with encoding/json on a string.
func agree(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, b []byte) {
	t.Helper()
	valid := json.Valid(b)
	if got := jsontext.Valid(b); got != valid {
		t.Fatalf("%.99q: valid is %v, want %v", b, got, valid)
	}
	var want bytes.Buffer
	err := json.Compact(&want, b)
	got, ok := jsontext.AppendCompact([]byte("before"), b)
	if ok != (err == nil) || string(got) != "before"+want.String() && ok || !ok && string(got) != "before" {
		t.Fatalf("%.99q: without blanks it is %.99q, %v, want %.99q, %v", b, got, ok, want.Bytes(), err)
	}
	members(t, b, valid)
}

// members compares the members of an object with those that a decoder finds.
func members(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, b []byte, valid bool) {
	t.Helper()
	got, ok := jsontext.AppendMembers(nil, b)
	object := valid && bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("{"))
	if ok != object {
		t.Fatalf("%.99q: an object is %v, want %v", b, ok, object)
	}
	if !object {
		return
	}
	d := json.NewDecoder(bytes.NewReader(b))
	_, _ = d.Token() // the brace
	for _, m := range got {
		name, err := d.Token()
		var read string
		if rerr := json.Unmarshal(m.Name, &read); err != nil || rerr != nil || read != name {
			t.Fatalf("%.99q: member %s (%v), want %v (%v)", b, m.Name, rerr, name, err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil || !bytes.Equal(value, m.Value) {
			t.Fatalf("%.99q: member %s is %s, want %s (%v)", b, m.Name, m.Value, value, err)
		}
	}
	if d.More() {
		t.Fatalf("%.99q: there are more members than %d", b, len(got))
	}
}

func TestItAgreesWithEncodingJSON(t *testing.T) {
	for _, text := range texts {
		agree(t, []byte(text))
	}
}

// TestTextsWithOneOtherByte checks that a wrong byte is an error in any position.
func TestTextsWithOneOtherByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := value(t, 3)
		if len(b) > 0 && rapid.Bool().Draw(t, "damaged") {
			b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] = rapid.SampledFrom([]byte("\x00\x1f \"\\{}[]:,-+.eE0159utfn/\x80\xff")).Draw(t, "to")
		}
		agree(t, b)
	})
}

// value draws a JSON value, with blanks wherever allowed.
func value(t *rapid.T, depth int) []byte {
	kind := rapid.IntRange(0, 4+min(depth, 2)).Draw(t, "kind")
	var b []byte
	blank := func() { b = append(b, rapid.SampledFrom([]string{"", "", " ", "\t", "\r\n  "}).Draw(t, "blank")...) }
	blank()
	switch kind {
	case 0:
		b = append(b, rapid.SampledFrom([]string{"0", "-1.5e+10", "true", "false", "null", "12345678901234567890", "1E-7"}).Draw(t, "word")...)
	case 1, 2, 3, 4:
		b = append(b, quoted(t)...)
	default:
		object := kind == 5
		b = append(b, "[{"[btoi(object)])
		for i := range rapid.IntRange(0, 4).Draw(t, "parts") {
			if i > 0 {
				b = append(b, ',')
			}
			if object {
				blank()
				b = append(append(b, quoted(t)...), ':')
			}
			b = append(b, value(t, depth-1)...)
		}
		blank()
		b = append(b, "]}"[btoi(object)])
	}
	blank()
	return b
}

func quoted(t *rapid.T) []byte {
	b, err := json.Marshal(rapid.String().Draw(t, "text"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func FuzzTexts(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) { agree(t, b) })
}

func BenchmarkCompact(b *testing.B) {
	text := []byte(`{"id": 1, "text": "` + strings.Repeat("some words of a string ", 12) + `", "tags": ["a", "b"], "meta": {"source": "web", "dims": [1, 2]}}`)
	b.SetBytes(int64(len(text)))
	var to []byte
	for range b.N {
		to, _ = jsontext.AppendCompact(to[:0], text)
	}
}
