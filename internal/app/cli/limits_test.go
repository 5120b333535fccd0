package cli_test

import (
	"strings"
	"testing"
)

// TestLimitsOfFlowsAndFlags checks that a flow sets the limit on images, that a flag
// overrides it, and that the error names both.
func TestLimitsOfFlowsAndFlags(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", strings.Replace(statsFlow, "version: 1\n", "version: 1\nlimits: {pixels: 1000}\n", 1))
	r := b.larder("run", "flow.yaml")
	if r.status != 1 {
		t.Errorf("status %d", r.status)
	}
	mustContain(t, "the error", r.stderr, "32 x 32 pixels exceeds the limit of 1000", "--max-pixels", "limits: {pixels: N}")
	if r := b.larder("run", "flow.yaml", "--max-pixels", "1024"); r.status != 0 {
		t.Error(r.stderr)
	}
	for _, args := range []string{"--max-pixels -1", "--max-unpacked 5x"} {
		if r := b.larder(append([]string{"run", "flow.yaml"}, strings.Fields(args)...)...); r.status != 2 {
			t.Errorf("%s: status %d: %s", args, r.status, r.stderr)
		}
	}
	b.write("flow.yaml", strings.Replace(statsFlow, "version: 1\n", "version: 1\nlimits: {pixel: 1000}\n", 1))
	if r := b.larder("lint", "flow.yaml"); r.status != 2 || !strings.Contains(r.stderr, `did you mean "pixels"`) {
		t.Errorf("status %d: %s", r.status, r.stderr)
	}
}

// TestSkippedSamplesAreNamed checks that a run with skipped samples succeeds, and lists
// them in its table, its report and a file.
func TestSkippedSamplesAreNamed(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", statsFlow)
	b.write("data/data/05_image.jpeg", "no image")
	if r := b.larder("run", "flow.yaml"); r.status != 1 {
		t.Errorf("status %d", r.status)
	}
	r := b.run("--on-error", "1", "--skips", "skips.jsonl")
	mustContain(t, "the table", r.stderr, "letters: sample 5 skipped: item image: ")
	if len(r.report.Skips) != 1 || r.report.Skips[0].Sample != 5 || r.node(t, "letters").Skipped != 1 || r.node(t, "stats").Samples != 25 {
		t.Errorf("%+v", r.report)
	}
	mustContain(t, "the file", string(readFile(t, b.path("skips.jsonl"))), `{"node":"letters","sample":5,"error":"item image: `)
	if r := b.larder("run", "flow.yaml", "--on-error", "some"); r.status != 2 || !strings.Contains(r.stderr, "fail, skip, N or P%") {
		t.Errorf("status %d: %s", r.status, r.stderr)
	}
}
