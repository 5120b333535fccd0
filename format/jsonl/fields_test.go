package jsonl_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/format/jsonl"
	"github.com/larder-data/larder/internal/testing/testrand"
)

// text writes a random JSON value with blanks wherever allowed.
func text(r *rand.Rand, depth int) string {
	blank := func() string { return []string{"", " ", "\t", "  \t"}[r.IntN(4)] }
	switch kind := r.IntN(8); {
	case kind < 2 || depth == 0 && kind > 5:
		return []string{`""`, `"a"`, `"\""`, `"\\"`, `"}{][,:"`, `"\\\""`, `"é\u00e9"`, `"\ud83d\ude00"`}[r.IntN(8)]
	case kind < 6:
		return []string{"0", "-1.5e+10", "true", "false", "null", "12345678901234567890", "1e-7"}[r.IntN(7)]
	case kind == 6:
		var parts []string
		for range r.IntN(4) {
			parts = append(parts, blank()+text(r, depth-1)+blank())
		}
		return "[" + strings.Join(parts, ",") + blank() + "]"
	default:
		return object(r, depth-1, blank)
	}
}

func object(r *rand.Rand, depth int, blank func() string) string {
	var parts []string
	for i := range r.IntN(5) {
		name := fmt.Sprintf([]string{`"k%d"`, `"k\"%d"`, `"{%d}"`, `"\u00e9%d"`, `"a: %d,"`}[r.IntN(5)], i)
		parts = append(parts, blank()+name+blank()+":"+blank()+text(r, depth)+blank())
	}
	return "{" + strings.Join(parts, ",") + blank() + "}"
}

// TestFieldsAreWhatADecoderFinds checks that a line has the fields that a JSON decoder
// finds, with their original bytes.
func TestFieldsAreWhatADecoderFinds(t *testing.T) {
	r := testrand.New(t)
	var lines []string
	for range 3000 {
		lines = append(lines, object(r, 3, func() string { return []string{"", " ", "\t"}[r.IntN(3)] }))
	}
	ds, err := (jsonl.Source{}).Open(t.Context(), file(t, "in.jsonl", strings.Join(lines, "\n")), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range lines {
		var want map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &want); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		s, err := ds.At(t.Context(), i)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if s.Len() != len(want) {
			t.Fatalf("%s: fields %q", line, s.Keys())
		}
		for name, value := range want {
			it, err := s.Item(name)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if got, err := it.Bytes(t.Context()); err != nil || string(got) != string(value) {
				t.Fatalf("%s: field %q is %q, want %q (%v)", line, name, got, value, err)
			}
		}
	}
}

// TestARowTakesFewAllocations checks that the items of a row are allocated together, and
// that names of the previous line are reused. Lines with other names have their own.
func TestARowTakesFewAllocations(t *testing.T) {
	line := `{"id": 1, "a": "x", "b": "y", "c": [1, 2], "d": {"e": null}, "f": 1.50, "g": true, "h": "z", "i": 0, "j": ""}` + "\n"
	ds, err := (jsonl.Source{}).Open(t.Context(), file(t, "in.jsonl", strings.Repeat(line, 3000)), nil)
	if err != nil {
		t.Fatal(err)
	}
	i, most := 0, 6.0
	if raceEnabled {
		most = 10
	}
	if n := testing.AllocsPerRun(2000, func() {
		if s, err := ds.At(t.Context(), i); err != nil || s.Len() != 10 {
			t.Fatal(s.Keys(), err)
		}
		i++
	}); n > most {
		t.Errorf("a row of 10 fields takes %v allocations", n)
	}
}

func TestNamesAreThoseOfTheirLine(t *testing.T) {
	lines := []string{`{"a":1,"b":2}`, `{"a":3,"c":4}`, `{"b":5}`, `{"a\u0062":6,"b":7}`, `{"ab":8,"b":9,"c":10}`, `{}`, `{"c":11,"b":12,"a":13}`}
	ds, err := (jsonl.Source{}).Open(t.Context(), file(t, "in.jsonl", strings.Join(lines, "\n")), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a=1 b=2", "a=3 c=4", "b=5", "ab=6 b=7", "ab=8 b=9 c=10", "", "c=11 b=12 a=13"}
	if got := showAll(t, ds); !slices.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
	out := filepath.Join(t.TempDir(), "out.jsonl")
	if _, err := write(t, jsonl.Sink{Path: component.Path(out)}, component.One(ds)); err != nil {
		t.Fatal(err)
	}
	wrote, err := os.ReadFile(out)
	if want := strings.ReplaceAll(strings.Join(lines, "\n"), `\u0062`, "b") + "\n"; err != nil || string(wrote) != want {
		t.Errorf("wrote %s, %v, want %s", wrote, err, want)
	}
}
