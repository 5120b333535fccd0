package cli_test

import (
	"os"
	"strings"
	"testing"
)

// TestVariablesOfAFile: a file sets variables, and what is set by hand goes
// before it, wherever it stands.
func TestVariablesOfAFile(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", `version: 1
vars: {times: 1, name: a}
nodes:
  letters: {source: underfolder, with: {path: data}}
  many: {op: repeat, from: letters, with: {times: "${times}"}}
  out: {sink: underfolder, from: many, with: {path: "out-${name}"}}
`)
	b.write("vars.yaml", "times: 2\nname: \"007\"\n")
	for _, c := range []struct {
		args    []string
		samples int64
	}{
		{[]string{"--vars", "vars.yaml"}, 52},
		{[]string{"--vars", "vars.yaml", "--set", "times=3", "--set", "name=b"}, 78},
		{[]string{"--set", "times=3", "--set", "name=c", "--vars", "vars.yaml"}, 78},
	} {
		if n := b.run(c.args...).node(t, "out"); n.Samples != c.samples {
			t.Errorf("%q: %d samples, want %d", c.args, n.Samples, c.samples)
		}
	}
	if _, err := os.Stat(b.path("out-007")); err != nil {
		t.Errorf("a text that looks like a number became one: %v", err)
	}
	b.write("wrong.yaml", "times: [2]\n")
	if r := b.larder("run", "flow.yaml", "--vars", "wrong.yaml"); r.status != 2 || !strings.Contains(r.stderr, "wrong.yaml:1:8: times must be a text") {
		t.Errorf("status %d: %s", r.status, r.stderr)
	}
	if r := b.larder("run", "flow.yaml", "--vars", "none.yaml"); r.status != 2 || !strings.Contains(r.stderr, "none.yaml") {
		t.Errorf("status %d: %s", r.status, r.stderr)
	}
}
