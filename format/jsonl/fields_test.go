package jsonl_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/larder-data/larder/format/jsonl"
)

// text writes a random JSON value with blanks wherever they may be.
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

// The fields of a line are those that a JSON decoder finds, and each holds what is
// written there.
func TestFieldsAreWhatADecoderFinds(t *testing.T) {
	seed := rand.Uint64()
	t.Log("seed ", seed)
	r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // it makes tests
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
