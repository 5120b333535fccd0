package cli_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// stdin runs the program in another directory than the flow's, with a string on standard
// input.
func (b *bench) stdin(text string, args ...string) result {
	b.t.Helper()
	c := b.command(args...)
	c.Dir = b.t.TempDir()
	var stdout, stderr bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(text), &stdout, &stderr
	if err := c.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		b.t.Fatal(err)
	}
	return result{status: c.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
}

const measured = `version: 1
nodes:
  letters: {source: underfolder, with: {path: data}}
  stats: {map: image-stats, from: letters, keep: true}
  out: {sink: underfolder, from: stats, with: {path: out, overwrite: replace}}
`

// TestFlowOnStandardInput checks that the flow behaves as a file of the given name would.
func TestFlowOnStandardInput(t *testing.T) {
	b := newBench(t)
	as := filepath.Join(b.dir, "measure.yaml")
	if r := b.stdin(measured, "run", "-", "--stdin-filename", as); r.status != 0 || !strings.Contains(r.stderr, "measure: ok") {
		t.Fatalf("status %d: %s", r.status, r.stderr)
	}
	b.write("measure.yaml", measured)
	if n := b.runFlow("measure.yaml").node(t, "stats"); n.Computed != 0 || n.FromStore != 26 {
		t.Errorf("the same flow in a file computes %d and finds %d", n.Computed, n.FromStore)
	}
}

func TestFlowOnStandardInputIsWrong(t *testing.T) {
	b := newBench(t)
	as := filepath.Join(b.dir, "measure.yaml")
	misspelt := strings.Replace(measured, "image-stats", "image-stat", 1)
	for _, c := range []struct {
		text string
		args []string
		says string
	}{
		{measured, []string{"lint", "-", "--stdin-filename", as}, ""},
		{misspelt, []string{"lint", "-", "--stdin-filename", as}, as + `:4:16: there is no map "image-stat"`},
		{misspelt, []string{"run", "-"}, `flow.yaml:4:16: there is no map "image-stat"`},
		{measured, []string{"run", "-", "--watch"}, "--watch: standard input cannot be watched"},
		{measured, []string{"run", "-", "--stdin-filename", ""}, "--stdin-filename: empty"},
		{measured + strings.Repeat("#\n", 8<<20), []string{"lint", "-"}, "standard input: a flow has at most 16 MiB"},
	} {
		status := 2
		if c.says == "" {
			status = 0
		}
		if r := b.stdin(c.text, c.args...); r.status != status || !strings.Contains(r.stderr, c.says) {
			t.Errorf("%q: status %d: %s", c.args, r.status, r.stderr)
		}
	}
}

// TestStandardInputIsASource checks it for a flow, an operator and a mapper. A flow read
// from there leaves no input.
func TestStandardInputIsASource(t *testing.T) {
	b := newBench(t)
	const nodes = `version: 1
nodes:
  feed: {source: jsonl, with: {path: "-"}}
  big: {op: filter, from: feed, with: {where: "n > 1"}}
  all: {op: materialise, from: big}
  out: {sink: jsonl, from: all, with: {path: out.jsonl, overwrite: replace}}
`
	b.write("feed.yaml", nodes)
	const rows = "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n"
	r := b.stdin(rows, "run", filepath.Join(b.dir, "feed.yaml"))
	if out, err := os.ReadFile(filepath.Join(b.dir, "out.jsonl")); err != nil || r.status != 0 || string(out) != rows[8:] {
		t.Errorf("status %d, %v, and it wrote %q: %s", r.status, err, out, r.stderr)
	}
	if r := b.stdin(nodes, "run", "-", "--stdin-filename", filepath.Join(b.dir, "feed.yaml")); r.status != 1 || !strings.Contains(r.stderr, "standard input is not available") {
		t.Errorf("a flow from standard input has status %d: %s", r.status, r.stderr)
	}
	for line, want := range map[string]string{
		"op filter --where n>1 -i jsonl:- -o jsonl:-": rows[8:],
		"op reverse -i jsonl:- -o jsonl:-":            "{\"n\":3}\n{\"n\":2}\n{\"n\":1}\n",
		"map keep-keys -i jsonl:- -o jsonl:- -- n":    rows,
	} {
		if r := b.stdin(rows, strings.Fields(line)...); r.status != 0 || r.stdout != want {
			t.Errorf("larder %s has status %d and says %q: %s", line, r.status, r.stdout, r.stderr)
		}
	}
}
