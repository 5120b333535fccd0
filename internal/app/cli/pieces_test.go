package cli_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/larder-data/larder/internal/testing/testrand"
)

// deadlyFlow has a command that kills the program at a certain row, on request.
const deadlyFlow = `
version: 1
nodes:
  rows: {source: jsonl, with: {path: in.jsonl}}
  made:
    map: exec
    from: rows
    keep: true
    with:
      command: [sh, -c, 'if grep -q last "$LARDER_IN/text.json" && test -e DEADLY; then kill -9 $PPID; fi; cp "$LARDER_IN/text.json" "$LARDER_OUT/made.json"']
      items: [text]
      into: [made]
  out: {sink: jsonl, from: made, with: {path: out.jsonl, overwrite: replace}}
`

// TestKilledAmongCopiedRows checks that a run killed while it copies and computes rows
// leaves the output unchanged, and that the next run writes the right output. The table
// shows how much is reused.
func TestKilledAmongCopiedRows(t *testing.T) {
	testrand.Long(t)
	b := newBench(t)
	deadly := b.log + "-deadly" // outside of the flow's directory, so that it is not read
	b.write("flow.yaml", strings.Replace(deadlyFlow, "DEADLY", deadly, 1))
	var rows, want []string
	for i := range 120 {
		rows = append(rows, fmt.Sprintf("{\"text\": \"row %d\"}\n", i))
	}
	write := func() {
		b.write("in.jsonl", strings.Join(rows, ""))
		want = nil
		for _, r := range rows {
			text := strings.TrimSuffix(strings.TrimPrefix(r, `{"text": `), "}\n")
			want = append(want, fmt.Sprintf("{\"text\":%s,\"made\":%s}\n", text, text))
		}
	}
	write()
	b.run()
	before := string(readFile(t, b.path("out.jsonl")))
	if before != strings.Join(want, "") {
		t.Fatalf("the first run wrote %s", before)
	}
	rows[0] = "{\"text\": \"first\"}\n"
	rows = append(rows, "{\"text\": \"last\"}\n")
	write()
	if err := os.WriteFile(deadly, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := b.command("run", "flow.yaml").Run(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("the run was not killed: %v", err)
	}
	if err := os.Remove(deadly); err != nil {
		t.Fatal(err)
	}
	if got := string(readFile(t, b.path("out.jsonl"))); got != before {
		t.Errorf("the run that was killed wrote %s", got)
	}
	r := b.must("run flow.yaml --progress plain")
	if got := string(readFile(t, b.path("out.jsonl"))); got != strings.Join(want, "") {
		t.Errorf("the run after that wrote %s", got)
	}
	mustContain(t, "what is said", r.stdout+r.stderr, "of 121 rows reused from the earlier output")
}
