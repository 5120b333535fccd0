package cli_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

const mixedShare = "version: 1\nnodes:\n  letters: {source: underfolder, with: {path: data}}\n  mine: {op: shard, from: letters, with: {rank: 0, world-size: 2}}\n  mixed: {op: shuffle, from: mine, with: {epoch: \"${epoch}\"}}\nvars: {epoch: 0}\n"

// finding is the output of larder lint --json for each error and warning.
type finding struct {
	Severity, Rule, File, Node, Message, Fix string
	Line, Column                             int
}

func findings(t *testing.T, r result) (all []finding) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(r.stdout))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil || all == nil {
		t.Fatalf("%v: %q", err, r.stdout)
	}
	return all
}

// TestLintWarnings checks that a flow with warnings is valid, except with --strict.
func TestLintWarnings(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", mixedShare)
	for flags, status := range map[string]int{"": 0, "--strict": 1, "--json": 0, "--json --strict": 1} {
		r := b.larder(append([]string{"lint", "flow.yaml"}, strings.Fields(flags)...)...)
		if r.status != status {
			t.Errorf("lint %s: status %d, want %d", flags, r.status, status)
		}
		if !strings.Contains(flags, "--json") {
			mustContain(t, "lint "+flags, r.stderr, "larder: warning: flow.yaml:5:3: node mixed: it shuffles the shard", "shuffle before mine", "(docs/reference/lint-rules.md#shard-before-shuffle)", "flow.yaml: 3 nodes, 1 warning\n")
			continue
		}
		all := findings(t, r)
		if len(all) != 1 || all[0].Fix == "" || all[0].Message == "" {
			t.Fatalf("lint %s: %+v", flags, all)
		}
		all[0].Fix, all[0].Message = "", ""
		if want := (finding{Severity: "warning", Rule: "shard-before-shuffle", File: "flow.yaml", Line: 5, Column: 3, Node: "mixed"}); all[0] != want {
			t.Errorf("lint %s: %+v, want %+v", flags, all[0], want)
		}
	}
	if _, err := os.Stat(b.cache); !os.IsNotExist(err) {
		t.Error("lint made a cache")
	}
}

// TestLintJSON checks that the list has all errors of a flow, and is empty if there are
// none.
func TestLintJSON(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", statsFlow)
	if r := b.larder("lint", "flow.yaml", "--json", "--strict"); r.status != 0 || r.stdout != "[]\n" || r.stderr != "" {
		t.Errorf("status %d, %q, %q", r.status, r.stdout, r.stderr)
	}
	b.write("flow.yaml", strings.ReplaceAll(statsFlow, "image-stats", "image-stat"))
	r := b.larder("lint", "flow.yaml", "--json")
	all := findings(t, r)
	if r.status != 2 || len(all) != 1 || all[0].Severity != "error" || all[0].Rule != "error" || all[0].Line != 5 || all[0].Column != 16 {
		t.Errorf("status %d, %+v", r.status, all)
	}
	b.write("flow.yaml", strings.Replace(mixedShare, "mixed: {op: shuffle, from: mine, with: {epoch: \"${epoch}\"}}", "a: {sink: underfolder, from: mine, with: {path: out}}\n  b: {sink: underfolder, from: letters, with: {path: out}}", 1))
	r = b.larder("lint", "flow.yaml", "--json")
	if all = findings(t, r); r.status != 2 || len(all) != 1 || all[0].Severity != "error" || !strings.Contains(all[0].Message, "out") {
		t.Errorf("status %d, %+v", r.status, all)
	}
}

// TestLintOfCachedResults checks that lint uses the costs of cached results.
func TestLintOfCachedResults(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", statsFlow)
	b.run()
	if r := b.larder("lint", "flow.yaml", "--strict"); r.status != 0 {
		t.Error(r.stderr) // measuring an image takes longer than reading some numbers
	}
}
