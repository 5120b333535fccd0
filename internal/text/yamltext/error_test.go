package yamltext_test

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/larder-data/larder/internal/text/yamltext"
)

// TestExplain checks that each error of the library has a position and a problem, in no
// words of the library.
func TestExplain(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a: [1, 2", "line 1, column 4: unterminated list"},
		{"a:\n  b: {c: x\n  d: y\n", "line 2, column 6: unterminated mapping"},
		{"version: 1\n nodes: 2\n", "line 2, column 7: unexpected colon"},
		{"version: 1\n\tnodes: 2\n", "tab in the indentation"},
		{"a: *x\n", "line 1, column 4: alias *x has no anchor &x before it"},
		{"a: \"x\nb: 1\n", "line 1, column 4: unterminated quoted string; add the closing quote"},
		{"a: b: c\n", "line 1, column 5: unexpected colon"},
		{"- a\nb: 1\n", "line 1, column 1: the list has an entry without -"},
		{"a: @x\n", "line 1, column 4: a string cannot begin with '@'"},
		{"a: %x\n", "line 1, column 4: a string cannot begin with '%'"},
		{"a: `x`\n", "line 1, column 4: a string cannot begin with '`'"},
		{"a: 1\n---\nb: 2\n", "several documents"},
		{"key: |\n  x\n y\n", "line 1, column 1: the mapping has an entry that is not a key"},
		{"é: \xff\n", "line 1, column 4: byte 0xff is not UTF-8"},
		{"a: \"\\q\"\n", "unknown escape"},
		{"a: \"\\xg\"\n", "incomplete escape"},
		{"a: - b\n", "unexpected list item"},
		{"a: !<x y\n", "unexpected tag (!)"},
		{"a: !e!x y\n", "unexpected tag (!)"},
		{"a: & b\n", "missing name after & or *"},
		{"a: *\n", "missing name after & or *"},
		{"abc\ndef\nb: 1\n", "unexpected colon"},
		{"a: 1\nbcd\n", "missing colon after the key"},
		{"%YAML 9.9\n---\na: 1\n", "unknown YAML version"},
		{"%FOO\n", ""},
		{"a: 'x' y\n", ""},
		{"a: [b]]\n", ""},
		{"{a: b}}\n", ""},
		{"a: \"b\"c\n", ""},
		{"? a\n? b\n: c\nd\n", ""},
		{"a: >x\n b\n", ""},
		{"a: |0\n b\n", ""},
	} {
		var n yaml.Node
		err := yaml.Load([]byte(c.text), &n)
		if err == nil {
			t.Errorf("%q is read", c.text)
			continue
		}
		got := yamltext.Explain([]byte(c.text), err).Error()
		if !strings.Contains(got, c.want) {
			t.Errorf("%q: %s, want %s (%v)", c.text, got, c.want, err)
		}
		for _, odd := range []string{"go-yaml", "yaml:", "L1.C", "scanner", "construct", "stream", "token", "sequence", "scalar"} {
			if strings.Contains(got, odd) {
				t.Errorf("%q: %s (%v)", c.text, got, err)
			}
		}
	}
}

func FuzzExplain(f *testing.F) {
	f.Add([]byte("a: [1, 2"))
	f.Add([]byte("\ufeffé: \xff\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		var n yaml.Node
		if err := yaml.Load(content, &n); err != nil {
			if e := yamltext.Explain(content, err); e.What == "" || e.Line < 0 || e.Column < 0 {
				t.Errorf("%+v", e)
			}
		}
	})
}
