package cli_test

import (
	"os"
	"strings"
	"testing"
)

// TestVariablesOfAFile checks that a file sets variables, and that other flags override it
// in any order.
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
		t.Errorf("a string that looks like a number became one: %v", err)
	}
	b.write("wrong.yaml", "times: [2]\n")
	if r := b.larder("run", "flow.yaml", "--vars", "wrong.yaml"); r.status != 2 || !strings.Contains(r.stderr, "wrong.yaml:1:8: times must be a string") {
		t.Errorf("status %d: %s", r.status, r.stderr)
	}
	if r := b.larder("run", "flow.yaml", "--vars", "none.yaml"); r.status != 2 || !strings.Contains(r.stderr, "none.yaml") {
		t.Errorf("status %d: %s", r.status, r.stderr)
	}
}

// TestProfileOfAFlow checks that --profile chooses values, which --vars and --set override.
func TestProfileOfAFlow(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", "version: 1\nvars: {out: a, n: 1}\nprofiles: {other: {out: b, n: 2}}\nnodes:\n  letters: {source: underfolder, with: {path: data}}\n  out: {sink: underfolder, from: letters, with: {path: \"${out}${n}\"}}\n")
	b.run()
	b.run("--profile", "other")
	b.run("--profile", "other", "--set", "n=3")
	for _, name := range []string{"a1", "b2", "b3"} {
		if _, err := os.Stat(b.path(name)); err != nil {
			t.Error(err)
		}
	}
	if r := b.larder("run", "flow.yaml", "--profile", "othr"); r.status != 2 || !strings.Contains(r.stderr, `has no profile "othr"; did you mean "other"?`) {
		t.Errorf("status %d: %s", r.status, r.stderr)
	}
	mustContain(t, "the audit", b.must("audit flow.yaml --profile other --json").stdout, `"b"`)
}
