package codec_test

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/larder-data/larder/codec"
)

// set returns a document with another value at the path of steps.
func set(v any, value any, steps ...any) any {
	if len(steps) == 0 {
		return value
	}
	switch at := steps[0].(type) {
	case string:
		out := maps.Clone(v.(map[string]any))
		out[at] = set(out[at], value, steps[1:]...)
		return out
	case int:
		out := slices.Clone(v.([]any))
		if at == len(out) {
			return append(out, value)
		}
		out[at] = set(out[at], value, steps[1:]...)
		return out
	}
	panic("a step is a key or an index")
}

// TestUpdateKeepsWhatIsNotTouched checks that the rest of a document stays the same: digits, order, escapes, white space
// and comments.
func TestUpdateKeepsWhatIsNotTouched(t *testing.T) {
	python := "{\n    \"id\": 18446744073709551616,\n    \"z\": 1.10,\n    \"a\": \"caf\\u00e9\\/\",\n    \"n\": NaN,\n    \"l\": [\n        1,\n        2\n    ],\n    \"o\": {}\n}\n"
	yml := "# of PyYAML\nid: 18446744073709551616 # wide\nz: 1.10\na: 'x'   # quoted\nlist:\n- 1\n- {b: 0x1F, c: \"\\x41\"}\n- - 5\n  - ä: 08\n5: int\ntext: |\n  some\n  lines\nnothing:\nlast: 1e3\n"
	for _, test := range []struct {
		ext, old string
		value    any
		steps    []any
		from, to string // the changed part of old
	}{
		{"json", python, "new", []any{"z"}, "1.10", `"new"`},
		{"json", python, int64(3), []any{"x"}, "    \"o\": {}", "    \"o\": {},\n    \"x\": 3"},
		{"json", python, int64(3), []any{"l", 2}, "        2\n", "        2,\n        3\n"},
		{"json", python, m{"b": 1.0, "a": nil}, []any{"o"}, "{}", `{"a":null,"b":1.0}`},
		{"json", python, 1.1, []any{"z"}, "", ""},
		{"json", `{"a": 1}`, int64(2), []any{"b"}, "1}", `1, "b": 2}`},
		{"json", `{"a":1}`, int64(2), []any{"b"}, "1}", `1,"b":2}`},
		{"json", ` [1e2 , 0.10] `, int64(2), []any{0}, "1e2", "2"},
		{"json", `5`, int64(2), nil, "5", "2"},
		{"yaml", yml, "new", []any{"z"}, "1.10", "new"},
		{"yaml", yml, int64(7), []any{"a"}, "'x'", "7"},
		{"yaml", yml, int64(7), []any{"list", 1, "c"}, `"\x41"`, "7"},
		{"yaml", yml, int64(7), []any{"list", 1, "d"}, `"\x41"}`, `"\x41", d: 7}`},
		{"yaml", yml, int64(7), []any{"list", 2, 1, "ä"}, "08", "7"},
		{"yaml", yml, int64(7), []any{"list", 2, 1, "x"}, "ä: 08", "ä: 08\n    x: 7"},
		{"yaml", yml, int64(7), []any{"list", 3}, "ä: 08", "ä: 08\n- 7"},
		{"yaml", yml, m{"k": []any{"no"}}, []any{"5"}, "int", "{k: [\"no\"]}"},
		{"yaml", yml, "x", []any{"text"}, "|\n  some\n  lines", "x"},
		{"yaml", yml, "x", []any{"nothing"}, "nothing:", "nothing: x"},
		{"yaml", yml, "x", []any{"new"}, "last: 1e3", "last: 1e3\nnew: x"},
		{"yaml", yml, "x", []any{"list"}, "\n- 1\n- {b: 0x1F, c: \"\\x41\"}\n- - 5\n  - ä: 08", " x"},
		{"yaml", "a: 1", int64(2), []any{"b"}, "a: 1", "a: 1\nb: 2"},
		{"yaml", "a: 1\r\nb: 2\r\n", int64(2), []any{"a"}, "1", "2"},
		{"yaml", "{}", int64(2), []any{"a"}, "{}", "{a: 2}"},
		{"yaml", "[1, 2,]", int64(3), []any{2}, ",]", ",3]"},
		{"yaml", "a: |\n  x\n", int64(3), []any{"b"}, "x\n", "x\nb: 3\n"},
		{"yaml", "b: &x {c: 1.0}\na: *x\n", "new", []any{"a"}, "*x", "new"},
		{"yaml", "d: &x {c: 01}\na: {<<: *x, k: 1}\n", int64(2), []any{"a", "c"}, "k: 1}", "k: 1, c: 2}"},
		{"yaml", "a: it's # 'x'\nb: 2.50\n", int64(1), []any{"a"}, "it's", "1"},
		{"yaml", "a: !!str 5\nb: 2.50\n", int64(1), []any{"a"}, "!!str 5", "1"},
		{"yaml", "\ufeffa: 0x1\nb: 2\n", int64(3), []any{"a"}, "0x1", "3"},
		{"yaml", "\ufeff{a: 1, b: 0x1}\n", int64(3), []any{"a"}, "1", "3"},
		{"yaml", "\ufeffa: 0x1\n", int64(3), []any{"b"}, "0x1\n", "0x1\nb: 3\n"},
		{"yaml", "# nothing\r\n", m{"a": int64(2), "b": nil}, nil, "g\r\n", "g\r\na: 2\r\nb: null\r\n"},
		{"yaml", "\ufeff# nothing", m{"a": int64(2)}, nil, "g", "g\na: 2\n"},
		{"yaml", "# nothing", nil, nil, "", ""},
		{"yaml", "a: 0x1\r\nb: 2\r\n", "x", []any{"c"}, "b: 2", "b: 2\r\nc: x"},
		{"yaml", "a: 0x1\rb: 2 # c\r", int64(3), []any{"b"}, "2", "3"},
		{"yaml", "a: 0x1\r\nb: |\r\n  x\r\n", "y", []any{"c"}, "x\r\n", "x\r\nc: \"y\"\r\n"},
		{"yaml", "a: \"0\u2028\"\nb: 0x2\n", int64(3), []any{"b"}, "0x2", "3"},
		{"yaml", "a: &x {b: 0x1} # c\nc: *x # d\n", int64(2), []any{"a", "b"}, "0x1} # c\nc: *x", "2} # c\nc: {b: 1}"},
		{"yaml", "a: &x 0x1\nb: [*x, &y [*x]]\nc: *y\n", "new", []any{"a"}, "&x 0x1\nb: [*x, &y [*x]]", "new\nb: [1, &y [1]]"},
		{"yaml", "a: &x {b: 0x1}\nc: {<<: *x, d: 0x2}\n", int64(3), []any{"a", "e"}, "0x1}\nc: {<<: *x", "0x1, e: 3}\nc: {<<: {b: 1}"},
		{"yaml", "a: &x foo\nb: {*x : 0x1}\n", int64(3), []any{"a"}, "&x foo\nb: {*x", "3\nb: {foo"},
		{"yaml", "a: {b: 0x1, # c\n  d: 2 # e\n}\n", int64(3), []any{"a", "f"}, "2 # e", "2, f: 3 # e"},
		{"yaml", "a: [0x1, # c\n]\n", int64(3), []any{"a", 1}, ",", ",3"},
		{"yaml", "{a, b: 0x1}\n", int64(3), []any{"a"}, "a", "a: 3"},
		{"yaml", "? a\n: 0x1\n", int64(3), []any{"b"}, "0x1\n", "0x1\nb: 3\n"},
		{"yaml", "a: &x\n  - 0x1\n", int64(3), []any{"a", 1}, "0x1\n", "0x1\n  - 3\n"},
		{"yaml", "# c\na:\n- 0x1\n- 2\nb: 0x1 # d\n", []any{int64(1)}, []any{"a"}, "\n- 0x1\n- 2", " [1]"},
		{"yaml", "a: {b: 1, c: 2} # d\n", m{"c": "x"}, []any{"a"}, "{b: 1, c: 2}", "{c: x}"},
	} {
		c := by(t, test.ext)
		doc, err := c.Decode([]byte(test.old))
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Update([]byte(test.old), set(doc, test.value, test.steps...))
		want := strings.Replace(test.old, test.from, test.to, 1)
		if err != nil || string(got) != want {
			t.Errorf("%s %v = %v in\n%s\ngave %v\n%s\nwant\n%s", test.ext, test.steps, test.value, test.old, err, got, want)
		}
	}
}

// TestUpdateIsNeverWrong checks that a value that cannot be changed in place is rewritten.
func TestUpdateIsNeverWrong(t *testing.T) {
	for _, test := range []struct {
		ext, old string
		v        any
		want     string
	}{
		{"yaml", "b: 1\na: 2\n", m{"a": int64(2)}, "a: 2\n"},
		{"yaml", "[3, 2]", []any{int64(3)}, "- 3\n"},
		{"yaml", "a: |\n  x", m{"a": "x", "b": int64(2)}, "a: x\nb: 2\n"},
		{"yaml", "? a\nb: 0x1\n", m{"a": int64(2), "b": int64(1)}, "a: 2\nb: 1\n"},
		{"yaml", "a: 1\nb: 2\n...\n", m{"a": int64(1), "b": int64(2), "c": int64(3)}, "a: 1\nb: 2\nc: 3\n...\n"},
		{"yaml", "a: two\n  lines\n\n\n  more\nb: 0x1\n", m{"a": int64(1), "b": int64(1)}, "a: 1\nb: 0x1\n"},
		{"json", `{"b":1,"a":2}`, m{"a": int64(2)}, `{"a":2}`},
		{"json", `[3,2]`, []any{int64(3)}, `[3]`},
		{"json", `{"a":-0.0}`, m{"a": 0.0}, `{"a":0.0}`},
		{"json", `{"a":1}`, m{"a": 1.0}, `{"a":1.0}`},
		{"json", `{"a":1}`, m{"a": 1}, `{"a":1}`},
		{"yaml", `{a: 1}`, m{"a": 2}, `{a: 2}`},
	} {
		got, err := by(t, test.ext).Update([]byte(test.old), test.v)
		if err != nil || string(got) != test.want {
			t.Errorf("%s %q with %v: %v\n%s\nwant\n%s", test.ext, test.old, test.v, err, got, test.want)
		}
	}
	for ext, old := range map[string]string{"json": `{"a":"\ud800"}`, "yaml": "a: ["} {
		if _, err := by(t, ext).Update([]byte(old), m{}); err == nil {
			t.Errorf("%s: damaged %q was written over", ext, old)
		}
	}
	if _, err := by(t, "json").Update([]byte(`{"a":1}`), m{"a": math.NaN()}); err == nil {
		t.Error("NaN was written as JSON")
	}
}

// TestUpdates changes one value of random documents at random positions.
func TestUpdates(t *testing.T) {
	for _, ext := range []string{"json", "yaml"} {
		gen := documents(ext == "yaml")
		t.Run(ext, rapid.MakeCheck(func(t *rapid.T) {
			c := mustBy(t, ext)
			old, v := gen.Draw(t, "old"), gen.Draw(t, "new")
			b, err := c.Encode(old)
			if err != nil {
				t.Fatal(err)
			}
			if same, err := c.Update(b, old); err != nil || !bytes.Equal(same, b) {
				t.Fatalf("%q became %q, %v, though nothing changed", b, same, err)
			}
			want := set(old, v, drawSteps(t, old)...)
			got, err := c.Update(b, want)
			if err != nil {
				t.Fatal(err)
			}
			back, err := c.Decode(got)
			if err != nil {
				t.Fatalf("%q became %q: %v", b, got, err)
			}
			if diff := cmp.Diff(want, back, cmpopts.EquateNaNs(), equalBig); diff != "" {
				t.Fatalf("%q became %q: %s", b, got, diff)
			}
		}))
	}
}

// drawSteps draws a path in a document, to an existing or the next value.
func drawSteps(t *rapid.T, v any) []any {
	if rapid.IntRange(0, 3).Draw(t, "stop") == 0 {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		k := rapid.SampledFrom(append(slices.Sorted(maps.Keys(v)), "new")).Draw(t, "key")
		if part, ok := v[k]; ok {
			return append([]any{k}, drawSteps(t, part)...)
		}
		return []any{k}
	case []any:
		i := rapid.IntRange(0, len(v)).Draw(t, "index")
		if i < len(v) {
			return append([]any{i}, drawSteps(t, v[i])...)
		}
		return []any{i}
	}
	return nil
}

// doubts returns the doubts noted about a document.
func doubts(t *testing.T, text string) []string {
	t.Helper()
	var all []string
	_, err := by(t, "yaml").Noting([]byte(text), func(d codec.Ambiguity) { all = append(all, d.String()) })
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestYAMLSaysWhatVersionsReadDifferently(t *testing.T) {
	for text, want := range map[string]string{
		"08":                  `the number 8 in YAML 1.2 (Larder), but the string "08" in YAML 1.1`,
		"010":                 `the number 10 in YAML 1.2 (Larder), but the number 8 in YAML 1.1`,
		"1e3":                 `the number 1000 in YAML 1.2 (Larder), but the string "1e3" in YAML 1.1`,
		"0o17":                `the number 15 in YAML 1.2 (Larder), but the string "0o17" in YAML 1.1`,
		"yes":                 `the string "yes" in YAML 1.2 (Larder), but the boolean true in YAML 1.1`,
		"Off":                 `the string "Off" in YAML 1.2 (Larder), but the boolean false in YAML 1.1`,
		"1_000":               `the string "1_000" in YAML 1.2 (Larder), but the number 1000 in YAML 1.1`,
		"1:30":                `the string "1:30" in YAML 1.2 (Larder), but the number 90 in YAML 1.1`,
		"-1:30":               `the number -90 in YAML 1.1`,
		"1:30.5":              `the number 90.5 in YAML 1.1`,
		"0b11":                `the number 3 in YAML 1.1`,
		"-.5":                 `the number -0.5 in YAML 1.2 (Larder), but the string "-.5" in YAML 1.1`,
		"2001-01-01":          `the string "2001-01-01" in YAML 1.2 (Larder), but a date in YAML 1.1`,
		"2001-1-1 1:02:03 +1": "a date in YAML 1.1",
	} {
		got := doubts(t, "x: [ok,\n  "+text+"]")
		if len(got) != 1 || !strings.HasPrefix(got[0], "line 2: "+text+" is ") || !strings.Contains(got[0], want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"y", "n", "1", "-5", "0", ".5", "1.5", "1.5e+3", "0x1F", "true", "null", "~", "'yes'", "!!str 08", ".inf", ".nan", "18446744073709551616", "x", "1.2.3", "12 apples", "+", "1-2"} {
		if got := doubts(t, "- "+text); len(got) != 0 {
			t.Errorf("%s: %q", text, got)
		}
	}
	for _, text := range []string{"<<", "="} {
		if got := doubts(t, "x: "+text); len(got) != 1 || !strings.Contains(got[0], text+` is the string "`+text+`" in YAML 1.2 (Larder), but an error in YAML 1.1`) {
			t.Errorf("%s: %q", text, got)
		}
	}
	for _, text := range []string{"yes", "1_000", "2001-01-01"} {
		if got := doubts(t, text+": x"); len(got) != 1 || !strings.Contains(got[0], "in YAML 1.1") {
			t.Errorf("the key %s: %q", text, got)
		}
	}
	for _, text := range []string{"=", "y", "'yes'", "!!str yes", "x"} {
		if got := doubts(t, text+": x"); len(got) != 0 {
			t.Errorf("the key %s: %q", text, got)
		}
	}
	if got := doubts(t, "5: x"); len(got) != 1 || got[0] != "line 1: 5 is the number 5 as a value, but a string as a key" {
		t.Errorf("%q", got)
	}
}

func TestStrictYAML(t *testing.T) {
	codec.StrictYAML.Store(true)
	defer codec.StrictYAML.Store(false)
	for _, text := range []string{"a: 1\nb: 08", "a: 1\n8: x"} {
		if v, err := by(t, "yaml").Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), "line 2: ") {
			t.Errorf("%q: %v, %v", text, v, err)
		}
	}
	if _, err := by(t, "yaml").Decode([]byte("a: [1, '08', x]")); err != nil {
		t.Error(err)
	}
}
