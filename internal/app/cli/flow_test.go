package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const toPrint = `version: 1
vars: {w: 8}
sweep: {a: [1, 2]}
nodes:
  in: {source: underfolder, with: {path: data}}
  odd: {map: set-value, from: in, with: {key: k, value: {"<$${x}>": [2.0, true, null, "a\nb"]}}, keep: true}
  small: {map: image-resize, from: odd, with: {width: "${w}"}}
  out: {sink: jsonl, from: small, with: {path: "out/${a}"}}
`

// TestPrintedFlows checks that a printed flow equals the flow, and prints as itself.
func TestPrintedFlows(t *testing.T) {
	dir := t.TempDir()
	file, again := filepath.Join(dir, "flow.yaml"), filepath.Join(dir, "again.yaml")
	if err := os.WriteFile(file, []byte(toPrint), 0o666); err != nil {
		t.Fatal(err)
	}
	say := func(args ...string) string {
		t.Helper()
		r := inProcess(t, filepath.Join(dir, "cache"), append([]string{"flow"}, args...)...)
		if r.status != 0 || r.stderr != "" {
			t.Fatalf("%v: status %d, %s", args, r.status, r.stderr)
		}
		return r.stdout
	}
	text := say(file, "--set", "w=9")
	for _, has := range []string{"width: 9\n", "path: out/1\n", "out-a-2:\n", "<$${x}>"} {
		if !strings.Contains(text, has) {
			t.Errorf("no %q in\n%s", has, text)
		}
	}
	if err := os.WriteFile(again, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if say(again) != text || say(again, "--json") != say(file, "--json", "--set", "w=9") {
		t.Error("what was printed prints as something else")
	}
	prints := map[string]bool{}
	for _, args := range [][]string{{file}, {file, "--set", "w=9"}, {again}, {again, "--only", "in"}, {file, "--only", "in"}} {
		prints[say(append(args, "--fingerprint")...)] = true
	}
	if len(prints) != 3 {
		t.Errorf("%d fingerprints, want 3: %v", len(prints), prints)
	}
	var got struct {
		Nodes map[string]struct {
			With map[string]any
			Keep bool
		}
	}
	if err := json.Unmarshal([]byte(say(file, "--json")), &got); err != nil {
		t.Fatal(err)
	}
	odd := got.Nodes["odd"]
	if v, ok := odd.With["value"].(map[string]any)["<${x}>"].([]any); !ok || len(v) != 4 || v[3] != "a\nb" || !odd.Keep {
		t.Errorf("the document is %+v", odd)
	}
}

func TestWrongPrints(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"flow", "../../../examples/letters/flow.yaml", "--json", "--fingerprint"}, "--fingerprint: not allowed with --json"},
		{[]string{"flow", "../../../examples/letters/flow.yaml", "--only", "out"}, "--only requires --fingerprint"},
		{[]string{"flow", "../../../examples/letters/flow.yaml", "--fingerprint", "--only", "outt"}, `did you mean "out"`},
		{[]string{"flow", "none.yaml"}, "none.yaml: no such file or directory"},
	} {
		if r := inProcess(t, t.TempDir(), c.args...); r.status != 2 || !strings.Contains(r.stderr, c.want) || r.stdout != "" {
			t.Errorf("%v: status %d, %s", c.args, r.status, r.stderr)
		}
	}
}
