package cli_test

import (
	"strings"
	"testing"
)

// TestFullScreenWithoutATerminal checks that there is one message, and then lines.
func TestFullScreenWithoutATerminal(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", statsFlow)
	r := b.larder("run", "flow.yaml", "--progress", "full")
	if r.status != 0 || strings.Contains(r.stderr, "\x1b") {
		t.Errorf("status %d: %q", r.status, r.stderr)
	}
	mustContain(t, "stderr", r.stderr, "stderr is not a terminal; printing lines instead", "stats: 26 of 26", "ok in")
	for _, progress := range []string{"none", "plain"} {
		r := b.larder("run", "flow.yaml", "--progress", progress)
		if r.status != 0 || (r.stderr == "") != (progress == "none") {
			t.Errorf("%s: status %d: %q", progress, r.status, r.stderr)
		}
	}
}

// TestEventsCount checks that events have the same counts as the final report.
func TestEventsCount(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", statsFlow)
	b.run("--events", "first")
	mustContain(t, "the events", string(readFile(t, b.path("first"))), `"node":"stats","kind":"map","done":26,"total":26,"computed":26}`)
	b.run("--events", "second")
	mustContain(t, "the events", string(readFile(t, b.path("second"))), `"node":"stats","kind":"map","done":26,"from_store":26}`)
}
