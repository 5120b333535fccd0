package cli_test

import (
	"os"
	"testing"
)

// TestJitterExample runs a small version of the example. Variants are a function of the
// position, so a run with more variants computes only the new ones.
func TestJitterExample(t *testing.T) {
	b := newBench(t)
	for from, to := range map[string]string{"../../../examples/letters": "letters", "../../../examples/jitter": "jitter"} {
		if err := os.CopyFS(b.path(to), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		times    string
		computed int64
	}{{"2", 52}, {"3", 26}, {"2", 0}} {
		r := b.runFlow("jitter/flow.yaml", "--set", "times="+c.times)
		if n := r.node(t, "jittered"); n.Computed != c.computed {
			t.Errorf("%s variants: %d computed, want %d", c.times, n.Computed, c.computed)
		}
	}
	r := b.larder("draw", "jitter/flow.yaml", "-o", "now.svg")
	if r.status != 0 {
		t.Fatal(r.stderr)
	}
	now, err := os.ReadFile(b.path("now.svg"))
	if err != nil {
		t.Fatal(err)
	}
	there, err := os.ReadFile("../../../examples/jitter/flow.svg")
	if err != nil {
		t.Fatal(err)
	}
	if string(now) != string(there) {
		t.Error("examples/jitter/flow.svg is not the picture of the flow: larder draw examples/jitter/flow.yaml -o examples/jitter/flow.svg")
	}
}
