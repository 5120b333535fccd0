package cli_test

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// stdin runs the program in another folder than that of the flow, with a text on
// standard input.
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

// TestFlowOnStandardInput: it is what a file of that name would be.
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
		{measured, []string{"run", "-", "--watch"}, "--watch: a flow on standard input cannot be watched"},
		{measured, []string{"run", "-", "--stdin-filename", ""}, "--stdin-filename is empty"},
		{measured + strings.Repeat("#\n", 8<<20), []string{"lint", "-"}, "standard input is larger than a flow can be"},
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
