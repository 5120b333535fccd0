package flow_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/larder-data/larder/flow"
	_ "github.com/larder-data/larder/format/text"
	"github.com/larder-data/larder/pool"
)

// TestEditsThatALookNotices checks which edits change the identity of a Look. States of
// loaders hold positions in one flow over one dataset, wherever it lies and whatever code
// computes it.
func TestEditsThatALookNotices(t *testing.T) {
	const text = "version: 1\nvars: {times: 2}\nnodes:\n" +
		"  in: {source: text, with: {path: data/a.txt}}\n" +
		"  run: {map: exec, from: in, with: {command: [cp], items: [text], into: [x], code: [code.sh]}}\n" +
		"  many: {op: repeat, from: run, with: {times: \"${times}\"}}\n" +
		"  back: {op: reverse, from: many}\n" +
		"  parts: {op: split, from: back, with: {sizes: {a: 0.5, b: null}}}\n" +
		"  end: {map: compute, from: parts.a, with: {set: {y: \"1\"}}}\n"
	write := func(dir, name, content string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	look := func(text string, change func(dir string)) string {
		t.Helper()
		dir := t.TempDir()
		write(dir, "data/a.txt", "one\ntwo\nthree\nfour\n")
		write(dir, "code.sh", "exit 0\n")
		if change != nil {
			change(dir)
		}
		f, err := flow.Parse(filepath.Join(dir, "flow.yaml"), []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		l, err := f.Snapshot(t.Context(), flow.RunOptions{Only: []string{"end"}, Pool: pool.New(1)})
		if err != nil {
			t.Fatal(err)
		}
		return l.Identity
	}
	before := look(text, nil)
	const one, two = "from: parts.a, with: {set: {y: \"1\"}}", "  more: {map: compute, from: parts.a, with: {set: {z: \"1\"}}}\n  end: {"
	for _, c := range []struct {
		what, from, to string
		change         func(dir string)
		same           bool
	}{
		{"another directory", "", "", nil, true},
		{"edited code", "", "", func(dir string) { write(dir, "code.sh", "exit 1\n") }, true},
		{"another file of the same size", "", "", func(dir string) { write(dir, "data/a.txt", "1ne\n2wo\n3hree\n4our\n") }, true},
		{"cached", one, one + ", cache: {policy: lru, size: 3}, workers: 3", nil, true},
		{"renamed nodes", "many", "much", nil, true},
		{"a variable that becomes a number", "\"${times}\"", "2", nil, true},
		{"a default that is said", "{op: reverse, from: many}", "{op: reverse, from: many, with: {}}", nil, true},
		{"how it is run", "items: [text]", "items: [text], timeout: 3s", nil, true},
		{"a node that is not read", "  end: {", "  other: {op: reverse, from: in}\n  end: {", nil, true},
		{"a longer file", "", "", func(dir string) { write(dir, "data/a.txt", "one\ntwo\nthree\nfour\nfive\n") }, false},
		{"another file", "data/a.txt", "data/b.txt", func(dir string) { write(dir, "data/b.txt", "one\ntwo\nthree\nfour\n") }, false},
		{"another mapper", one, "from: more, with: {set: {y: \"1\"}}", nil, false},
		{"another parameter of a mapper", "y: \"1\"", "y: \"2\"", nil, false},
		{"another command", "[cp]", "[mv]", nil, false},
		{"another parameter of an operator", "times: 2", "times: 3", nil, false},
		{"another output", "parts.a", "parts.b", nil, false},
		{"another input", "from: many", "from: run", nil, false},
		{"another operator", "op: reverse", "op: shuffle", nil, false},
		{"another option of errors", "code: [code.sh]}", "code: [code.sh]}, on-error: skip", nil, false},
	} {
		edited := strings.ReplaceAll(text, c.from, c.to)
		if c.from == "" {
			edited = text
		}
		if strings.Contains(edited, "from: more") {
			edited = strings.Replace(edited, "  end: {", two, 1)
		}
		if now := look(edited, c.change); (now == before) != c.same {
			t.Errorf("%s: same %v, want %v", c.what, !c.same, c.same)
		}
	}
}
