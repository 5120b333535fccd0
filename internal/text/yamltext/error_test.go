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
		{"a: [1, 2", "line 1, column 4: the list that begins here does not end"},
		{"a:\n  b: {c: x\n  d: y\n", "line 2, column 6: the mapping that begins here does not end"},
		{"version: 1\n nodes: 2\n", "line 2, column 7: a colon cannot stand here"},
		{"version: 1\n\tnodes: 2\n", "a tab cannot indent"},
		{"a: *x\n", "line 1, column 4: *x stands for what &x marks"},
		{"a: \"x\nb: 1\n", "line 1, column 4: the quoted text that begins here does not end"},
		{"a: b: c\n", "line 1, column 5: a colon cannot stand here"},
		{"- a\nb: 1\n", "line 1, column 1: the list that begins here goes on with what is no item"},
		{"a: @x\n", "line 1, column 4: '@' cannot begin a text"},
		{"a: %x\n", "line 1, column 4: '%' cannot begin a text"},
		{"a: `x`\n", "line 1, column 4: '`' cannot begin a text"},
		{"a: 1\n---\nb: 2\n", "there are several documents"},
		{"key: |\n  x\n y\n", "line 1, column 1: the mapping that begins here goes on with what is no key"},
		{"é: \xff\n", "line 1, column 4: the byte 0xff is not UTF-8"},
		{"a: \"\\q\"\n", "an escape that there is not"},
		{"a: \"\\xg\"\n", "an escape that is not complete"},
		{"a: - b\n", "an item of a list cannot stand here"},
		{"a: !<x y\n", "a tag (!) cannot stand here"},
		{"a: !e!x y\n", "a tag (!) cannot stand here"},
		{"a: & b\n", "a name is missing after & or *"},
		{"a: *\n", "a name is missing after & or *"},
		{"abc\ndef\nb: 1\n", "a colon cannot stand here"},
		{"a: 1\nbcd\n", "the colon is missing after the key that begins here"},
		{"%YAML 9.9\n---\na: 1\n", "the version of YAML"},
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
