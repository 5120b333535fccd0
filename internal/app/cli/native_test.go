package cli_test

import (
	"strings"
	"testing"

	"github.com/larder-data/larder/codec/native"
)

const measuredFlow = `version: 1
nodes:
  letters: {source: underfolder, with: {path: data}}
  stats: {map: image-stats, from: letters, with: {item: image, into: stats}, keep: true}
  out: {sink: underfolder, from: stats, with: {path: out, overwrite: replace}}
`

// TestLibrariesAreInKeys checks that results from a library's decoding are not reused with
// another decoder, and that their sink is written again.
func TestLibrariesAreInKeys(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", measuredFlow)
	t.Setenv("LARDER_NATIVE", "jpeg")
	if r := b.larder("formats"); r.status != 0 {
		t.Skipf("the library for JPEG is not on this machine: %s", r.stderr)
	}
	for i, step := range []struct {
		libraries string
		computed  int64
		decoder   string
	}{{"jpeg", 26, "jpeg by turbo/"}, {"none", 26, "jpeg"}, {"none", 0, "jpeg"}, {"jpeg", 0, "jpeg by turbo/"}} {
		t.Setenv("LARDER_NATIVE", step.libraries)
		if n := b.run().node(t, "stats"); n.Computed != step.computed {
			t.Errorf("run %d, by %s: %d computed, want %d", i, step.libraries, n.Computed, step.computed)
		}
		r := b.larder("formats")
		if by := strings.Contains(r.stdout, " by turbo/"); !strings.Contains(r.stdout, step.decoder) || by != (step.libraries == "jpeg") {
			t.Errorf("by %s, formats are\n%s", step.libraries, r.stdout)
		}
	}
}

// TestLibrariesThatAreNot checks that a format without a library is a wrong request, whose
// error lists those that exist.
func TestLibrariesThatAreNot(t *testing.T) {
	b := newBench(t)
	t.Setenv("LARDER_NATIVE", "tga")
	r := b.larder("formats")
	if r.status != 2 || !strings.Contains(r.stderr, `"tga"`) || !strings.Contains(r.stderr, strings.Join(native.Formats(), ",")) {
		t.Errorf("status %d\n%s", r.status, r.stderr)
	}
	t.Setenv("LARDER_NATIVE", "none")
	if r := b.larder("formats", "--json"); r.status != 0 || !strings.Contains(r.stdout, `"decoder": "jpeg"`) {
		t.Errorf("status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
}
