package cli_test

import (
	"os"
	"strings"
	"testing"
)

// TestExecLeavesWhatCannotBeRead checks that an item with invalid JSON is an error of its
// sample at its node. It is skipped and not cached, so the command runs again for it.
func TestExecLeavesWhatCannotBeRead(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", `
version: 1
nodes:
  letters: {source: underfolder, with: {path: data}}
  few: {op: slice, from: letters, with: {stop: 3}}
  x:
    map: exec
    from: few
    with: {command: [sh, x.sh], items: [metadata], into: [x], env: [EXECUTIONS]}
    keep: true
  out: {sink: underfolder, from: x, with: {path: out, overwrite: replace}}
`)
	b.write("broken", "yes")
	b.write("x.sh", `echo >> "$EXECUTIONS"
if grep -q 'letter: b' "$LARDER_IN/metadata.yaml" && [ -e "$(dirname "$EXECUTIONS")/work/broken" ]; then printf '{' ; else printf 1; fi > "$LARDER_OUT/x.json"
`)
	r := b.larder("run", "flow.yaml", "--progress", "none")
	if r.status != 1 {
		t.Errorf("status %d, want 1: %s", r.status, r.stderr)
	}
	mustContain(t, "the error", r.stderr, "node x: sample 1: the command wrote x.json, which cannot be read: json: line 1, column 2")
	if strings.Contains(r.stderr, "node out: sample") {
		t.Errorf("the sample is said twice: %s", r.stderr)
	}
	b.executions()
	r = b.larder("run", "flow.yaml", "--progress", "none", "--on-error", "skip", "--skips", "-")
	if r.status != 0 || strings.Count(r.stdout, "\n") != 1 || !strings.Contains(r.stdout, "which cannot be read") {
		t.Errorf("status %d: %s%s", r.status, r.stdout, r.stderr)
	}
	b.at("out").has("ac")
	b.executions()
	b.must("run flow.yaml --progress none --on-error skip")
	if n := b.executions(); n != 1 {
		t.Errorf("the command is run for %d samples again, want 1", n)
	}
}

// TestOutputsThatAreNotThere checks that a flow that reads a missing output, or all outputs
// where one is needed, is a wrong request. The same holds for a single operator.
func TestOutputsThatAreNotThere(t *testing.T) {
	b := newBench(t)
	const head = "version: 1\nnodes:\n  in: {source: underfolder, with: {path: data}}\n  g: {op: group-by, from: in, with: {by: metadata.color}}\n"
	for nodes, want := range map[string]string{
		"  out: {sink: underfolder, from: g.rde, with: {path: new}}\n":                                                                              `node out: from g.rde: there is no output "rde"; did you mean "red"?`,
		"  h: {op: chunk, from: g, with: {n: 2}}\n  out: {sink: underfolder, from: h, with: {path: new}}\n":                                         "flow.yaml:5:24: op chunk reads one dataset, but node g has several outputs; write g.NAME",
		"  s: {map: image-stats, from: g}\n  h: {op: split, from: s, with: {sizes: [1]}}\n  out: {sink: underfolder, from: h, with: {path: new}}\n": "node s has several outputs; write s.NAME",
	} {
		b.write("flow.yaml", head+nodes)
		for _, args := range []string{"run flow.yaml --progress none", "run flow.yaml --dry-run"} {
			r := b.larder(words(args)...)
			if r.status != 2 {
				t.Errorf("%s: larder %s: status %d, want 2: %s", nodes, args, r.status, r.stderr)
			}
			mustContain(t, args, r.stderr, want)
		}
	}
	if _, err := os.Lstat(b.path("new")); err == nil {
		t.Error("something was written")
	}
}
