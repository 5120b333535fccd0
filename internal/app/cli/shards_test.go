package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/internal/testing/testrand"
)

// TestKilledAmongShards checks that a killed run leaves complete shards, and that the next
// run writes the rest with the bytes of an undisturbed run. A third run writes nothing.
func TestKilledAmongShards(t *testing.T) {
	testrand.Long(t)
	b := newBench(t)
	deadly := b.log + "-deadly" // outside of the flow's directory, so that it is not read
	sharded := strings.Replace(deadlyFlow, "path: out.jsonl", "path: PLACE, shard-bytes: 1KiB", 1)
	b.write("flow.yaml", strings.NewReplacer("DEADLY", deadly, "PLACE", "out").Replace(sharded))
	b.write("whole.yaml", strings.NewReplacer("DEADLY", deadly+"-never", "PLACE", "whole").Replace(sharded))
	var rows strings.Builder
	for i := range 300 {
		fmt.Fprintf(&rows, "{\"text\": \"%s row %d\"}\n", strings.Repeat("=", i%90), i)
	}
	b.write("in.jsonl", rows.String()+"{\"text\": \"last\"}\n")
	b.must("run whole.yaml --progress none")
	if err := os.WriteFile(deadly, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := b.command("run", "flow.yaml").Run(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("the run was not killed: %v", err)
	}
	if err := os.Remove(deadly); err != nil {
		t.Fatal(err)
	}
	begun, err := filepath.Glob(b.path("out/0*.jsonl"))
	if err != nil || len(begun) < 2 {
		t.Fatalf("there were %d shards when the run was killed, %v", len(begun), err)
	}
	for _, path := range begun {
		if got, want := readFile(t, path), readFile(t, b.path("whole/"+filepath.Base(path))); !slices.Equal(got, want) {
			t.Errorf("%s was left with %d bytes, not %d", path, len(got), len(want))
		}
	}
	b.must("run flow.yaml --progress none")
	want, err := os.ReadDir(b.path("whole"))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(b.path("out"))
	if err != nil || len(entries) != len(want) {
		t.Fatalf("there is %v, %v", entries, err)
	}
	for i, e := range entries {
		got, whole := readFile(t, b.path("out/"+e.Name())), readFile(t, b.path("whole/"+want[i].Name()))
		if e.Name() != want[i].Name() || !slices.Equal(got, whole) || len(got) > 1<<10 {
			t.Errorf("%s has %d bytes, and %s %d", e.Name(), len(got), want[i].Name(), len(whole))
		}
	}
	r := b.must("run flow.yaml --progress plain")
	mustContain(t, "what is said", r.stdout+r.stderr, ": up to date\n")
}

// TestShardsFromTheShell checks that a format with a bound writes a directory, and that
// standard output accepts no shards.
func TestShardsFromTheShell(t *testing.T) {
	b := newBench(t)
	b.must("map keep-keys --keys metadata -i data -o jsonl:out,shard-samples=10 --progress none")
	if files, _ := filepath.Glob(b.path("out/*.jsonl")); len(files) != 3 {
		t.Errorf("there are %q", files)
	}
	r := b.larder("map", "keep-keys", "--keys", "metadata", "-i", "data", "-o", "jsonl:-,shard-bytes=1MiB")
	if r.status != 2 {
		t.Errorf("status %d: %s", r.status, r.stderr)
	}
	mustContain(t, "what is said", r.stderr, "standard output takes one file")
}
