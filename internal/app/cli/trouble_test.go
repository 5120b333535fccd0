package cli_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/internal/testing/corrupt"
	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/objectstore"
)

// statsFlow computes without commands, so that it can run often.
const statsFlow = `
version: 1
nodes:
  letters: {source: underfolder, with: {path: data}}
  stats: {map: image-stats, from: letters, checkpoint: true}
  out: {sink: underfolder, from: stats, with: {path: out, overwrite: replace}}
`

// damagedFlow reads its checkpoint into one file, so that a run writes few files.
const damagedFlow = `
version: 1
nodes:
  letters: {source: underfolder, with: {path: data}}
  stats: {map: image-stats, from: letters, checkpoint: true}
  few: {map: drop-keys, from: stats, with: {keys: [image]}}
  out: {sink: jsonl, from: few, with: {path: out.jsonl, overwrite: replace}}
`

// TestDamagedCache applies every kind of damage to the cache directory, also repeatedly.
// Every run must succeed with the right output.
func TestDamagedCache(t *testing.T) {
	testrand.Long(t)
	b := newBench(t)
	b.write("flow.yaml", damagedFlow)
	want := runFlow(t, b)
	if n := strings.Count(want, "stats"); n != 26 {
		t.Fatalf("%d stats are written: %s", n, want)
	}
	random, sound := testrand.New(t), corrupt.Remember(t, b.cache)
	check := func(what string) {
		if got := runFlow(t, b); got != want {
			t.Fatalf("%s: the output is %s\nwant %s", what, got, want)
		}
	}
	for _, h := range corrupt.Each(t, b.cache) {
		check(h.Do(t, b.cache, random))
		sound.Restore(t)
	}
	for range testrand.Rounds(20, 1000) {
		check(corrupt.Any(t, b.cache, random))
	}
}

// runFlow runs the flow in this process, and returns its output.
func runFlow(t *testing.T, b *bench) string {
	t.Helper()
	if err := os.RemoveAll(b.path("out.jsonl")); err != nil {
		t.Fatal(err)
	}
	var stderr tailWriter
	if status := mainIn(b, &stderr, "run", b.path("flow.yaml"), "--cache", b.cache, "--progress", "none"); status != 0 {
		t.Fatalf("status %d\n%s", status, stderr)
	}
	return string(readFile(t, b.path("out.jsonl")))
}

func TestWrongRequests(t *testing.T) {
	for _, c := range []struct {
		name, flow string
		args       []string
		status     int
		says       []string
	}{
		{
			name:   "misspelt field",
			flow:   "version: 1\nnodes:\n  a:\n    source: underfolder\n    wiht: {path: data}\n",
			status: 2, says: []string{"flow.yaml:5:5", `no field "wiht"`, `did you mean "with"?`, "    wiht: {path: data}", "    ^"},
		},
		{
			name:   "misspelt component",
			flow:   "version: 1\nnodes:\n  a: {source: underfoldr, with: {path: data}}\n",
			status: 2, says: []string{"flow.yaml:3:15", `no source "underfoldr"`, `"underfolder"`},
		},
		{
			name:   "misspelt parameter",
			flow:   "version: 1\nnodes:\n  a: {source: underfolder, with: {pth: data}}\n",
			status: 2, says: []string{"flow.yaml:3:35", `no field "pth"`, `"path"`},
		},
		{
			name:   "missing node",
			flow:   "version: 1\nnodes:\n  a: {source: underfolder, with: {path: data}}\n  b: {map: image-stats, from: c, checkpoint: true}\n",
			status: 2, says: []string{"flow.yaml:4:31", `unknown node "c"`},
		},
		{
			name:   "wrong type",
			flow:   "version: 1\nnodes:\n  a: {source: underfolder, with: {path: data}}\n  b: {op: repeat, from: a, with: {times: many}}\n",
			status: 2, says: []string{"flow.yaml:4:42", "times must be a number", `"many"`},
		},
		{
			name:   "cycle",
			flow:   "version: 1\nnodes:\n  a: {op: reverse, from: b}\n  b: {op: reverse, from: a}\n",
			status: 2, says: []string{"reads itself", "a <- b <- a"},
		},
		{
			name:   "unknown variable",
			flow:   "version: 1\nvars: {times: 1}\nnodes:\n  a: {source: underfolder, with: {path: \"${tims}\"}}\n",
			status: 2, says: []string{`unknown variable "tims"`, `"times"`},
		},
		{
			name:   "variable from outside that the flow has not",
			flow:   statsFlow,
			args:   []string{"--set", "x=1"},
			status: 2, says: []string{`no variable "x"`},
		},
		{name: "not YAML", flow: "version: [1\n", status: 2, says: []string{"flow.yaml:", "not YAML"}},
		{name: "bad expression", flow: "version: 1\nnodes:\n  a: {source: underfolder, with: {path: data}}\n  b: {op: filter, from: a, with: {where: \"a ==\"}}\n", status: 2, says: []string{"flow.yaml:4:", "expression"}},
		{name: "unknown node to run", flow: statsFlow, args: []string{"--only", "stat"}, status: 2, says: []string{`unknown node "stat"`, `"stats"`}},
		{
			name:   "missing directory",
			flow:   "version: 1\nnodes:\n  a: {source: underfolder, with: {path: nowhere}, checkpoint: true}\n",
			status: 1, says: []string{"node a", "no directory", "nowhere"},
		},
		{
			name:   "a sink on its own source",
			flow:   "version: 1\nnodes:\n  a: {source: underfolder, with: {path: data}}\n  out: {sink: underfolder, from: a, with: {path: ./data, overwrite: replace}}\n",
			status: 2, says: []string{"node out", "refusing to write", "node a reads"},
		},
		{
			name:   "a sink around its own source",
			flow:   "version: 1\nnodes:\n  a: {source: underfolder, with: {path: data}}\n  out: {sink: underfolder, from: a, with: {path: ., overwrite: replace}}\n",
			status: 2, says: []string{"node out", "refusing to write"},
		},
		{
			name:   "a key that leaves the directory",
			flow:   "version: 1\nnodes:\n  a: {source: underfolder, with: {path: data}}\n  b: {map: rename, from: a, with: {names: {image: ../x}}}\n  out: {sink: underfolder, from: b, with: {path: out}}\n",
			status: 1, says: []string{"node out", "sample ", `"../x"`, "rename"},
		},
		{
			name:   "a sink on a directory that is there",
			flow:   "version: 1\nnodes:\n  a: {source: underfolder, with: {path: data}}\n  out: {sink: underfolder, from: a, with: {path: full}}\n",
			status: 1, says: []string{"already exists", "overwrite: replace"},
		},
		{
			name:   "replacing what is not a dataset",
			flow:   "version: 1\nnodes:\n  a: {source: underfolder, with: {path: data}}\n  out: {sink: underfolder, from: a, with: {path: full, overwrite: replace}}\n",
			status: 1, says: []string{"refusing to replace", "not a dataset"},
		},
		{
			name:   "a command that fails",
			flow:   "version: 1\nnodes:\n  a: {source: underfolder, with: {path: data}}\n  b: {map: exec, from: a, with: {command: [sh, -c, \"echo oh no >&2; exit 3\"], items: [image], into: [x]}, checkpoint: true}\n",
			status: 1, says: []string{"node b", "sample ", "exit status 3", "oh no"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.write("flow.yaml", c.flow)
			b.write("full/precious.txt", "keep me")
			before := tree(t, b.dir)
			r := b.larder(append([]string{"run", "flow.yaml"}, c.args...)...)
			if r.status != c.status {
				t.Errorf("status %d, want %d", r.status, c.status)
			}
			mustContain(t, "the error", r.stderr, c.says...)
			sameTree(t, "after the failed run", tree(t, b.dir), before)
		})
	}
}

func TestCorruptImage(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", statsFlow)
	b.write("data/data/07_image.jpeg", "\xff\xd8\xff\xe0 no image")
	r := b.larder("run", "flow.yaml", "--workers", "1")
	if r.status != 1 {
		t.Errorf("status %d, want 1", r.status)
	}
	mustContain(t, "the error", r.stderr, "node stats", "sample 7", "07_image.jpeg")
	if _, err := os.Stat(b.path("out")); !os.IsNotExist(err) {
		t.Error("a failed run left an output directory")
	}
	// Earlier results are cached: with the image restored, only it and later ones are
	// computed.
	original, err := os.ReadFile("../../../examples/letters/data/data/07_image.jpeg")
	if err != nil {
		t.Fatal(err)
	}
	b.write("data/data/07_image.jpeg", string(original))
	n := b.run().node(t, "stats")
	if n.FromStore != 7 || n.Computed != 19 {
		t.Errorf("after mending: %d from the store and %d computed, want 7 and 19", n.FromStore, n.Computed)
	}
}

// TestFullDisk runs with a cache directory in a file system of 256 KiB, which is too small
// for the results.
func TestFullDisk(t *testing.T) {
	testrand.Long(t)
	b := newBench(t)
	b.write("big.sh", `echo run >> "$EXECUTIONS"; head -c 100000 /dev/zero | tr '\0' "$(basename "$LARDER_IN")" > "$LARDER_OUT/big.bin"; cat "$LARDER_IN/image.jpeg" >> "$LARDER_OUT/big.bin"`)
	b.write("flow.yaml", `
version: 1
nodes:
  letters: {source: underfolder, with: {path: data}}
  big: {map: exec, from: letters, with: {command: [sh, big.sh], items: [image], into: [big], env: [EXECUTIONS]}, checkpoint: true}
  out: {sink: underfolder, from: big, with: {path: out, overwrite: replace}}
`)
	want := b.run("--cache", b.path("roomy"))
	out := tree(t, b.path("out"))
	mountTmpfs(t, b.cache, "size=256k")
	b.executions()
	r := b.run()
	sameTree(t, "on a full disk", tree(t, b.path("out")), out)
	if got := b.executions(); got < 26 {
		t.Errorf("%d executions", got)
	}
	mustContain(t, "the warning", r.stderr, "larder: warning: results are computed but not cached", "no space left")
	if want.node(t, "big").Computed != 26 {
		t.Errorf("%d computed with free space", want.node(t, "big").Computed)
	}
}

func TestReadOnlyCache(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", statsFlow)
	mountTmpfs(t, b.cache, "size=8m")
	b.run()
	before := tree(t, b.cache)
	remount(t, b.cache, "ro")
	n := b.run().node(t, "stats")
	if n.FromStore != 26 || n.Computed != 0 {
		t.Errorf("a read-only cache gave %d from the store and computed %d, want 26 and 0", n.FromStore, n.Computed)
	}
	b.write("data/data/03_image.jpeg", string(readFile(t, b.path("data/data/03_image.jpeg")))+"x")
	r := b.run()
	if n := r.node(t, "stats"); n.Computed < 1 || n.FromStore < 25 {
		t.Errorf("%d computed and %d from the store, want 1 and 25", n.Computed, n.FromStore)
	}
	mustContain(t, "the warning", r.stderr, "larder: warning: ", "read-only")
	sameTree(t, "the read-only cache", tree(t, b.cache), before)
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// mountTmpfs mounts a small file system on a new directory.
func mountTmpfs(t *testing.T, dir, options string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", options, "tmpfs", dir).CombinedOutput()
	if err != nil {
		t.Skipf("this test needs the right to mount a file system (run it as root): %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.CommandContext(context.WithoutCancel(t.Context()), "umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
}

func remount(t *testing.T, dir, option string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "mount", "-o", "remount,"+option, dir).CombinedOutput(); err != nil {
		t.Fatalf("remount: %v: %s", err, out)
	}
}

// tailWriter stores written text for the messages of a failed test.
type tailWriter []byte

func (w *tailWriter) Write(p []byte) (int, error) {
	*w = append(*w, p...)
	return len(p), nil
}

func (w tailWriter) String() string { return string(w) }

// TestYAMLOfTwoReadings checks that a value that other software reads differently causes
// one warning per file, or an error on request.
func TestYAMLOfTwoReadings(t *testing.T) {
	b := newBench(t)
	if err := os.MkdirAll(b.path("in/data"), 0o777); err != nil {
		t.Fatal(err)
	}
	b.write("in/data/0_meta.yaml", "id: 010\nok: yes\n")
	b.write("flow.yaml", "version: 1\nnodes:\n  in: {source: underfolder, with: {path: in}}\n  some: {op: filter, from: in, with: {where: meta.id == 10}}\n  out: {sink: underfolder, from: some, with: {path: out}}\n")
	var stderr tailWriter
	if status := mainIn(b, &stderr, "run", b.path("flow.yaml"), "--cache", b.cache, "--progress", "none"); status != 0 {
		t.Fatalf("status %d\n%s", status, stderr)
	}
	if text := fmt.Sprint(stderr); strings.Count(text, "YAML 1.1") != 1 || !strings.Contains(text, "0_meta.yaml") || !strings.Contains(text, "the number 10 in YAML 1.2") {
		t.Errorf("the warning is %s", text)
	}
	t.Setenv("LARDER_YAML", "strict")
	defer codec.StrictYAML.Store(false)
	stderr = tailWriter{}
	if status := mainIn(b, &stderr, "run", b.path("flow.yaml"), "--cache", b.path("cache2"), "--progress", "none"); status != 1 || !strings.Contains(fmt.Sprint(stderr), "line 1: 010") {
		t.Errorf("status %d\n%s", status, stderr)
	}
	t.Setenv("LARDER_YAML", "loose")
	if status := mainIn(b, &stderr, "components"); status != 2 {
		t.Errorf("a value of LARDER_YAML that is not known: status %d", status)
	}
	t.Setenv("LARDER_YAML", "")
	defer objectstore.AskOnce.Store(objectstore.AskOnce.Swap(false))
	for how, want := range map[string]struct {
		status int
		once   bool
	}{"loose": {2, false}, "off": {0, true}} {
		t.Setenv("LARDER_HEDGE", how)
		if status := mainIn(b, &stderr, "components"); status != want.status || objectstore.AskOnce.Load() != want.once {
			t.Errorf("LARDER_HEDGE is %q: status %d, asked once %v", how, status, objectstore.AskOnce.Load())
		}
		objectstore.AskOnce.Store(false)
	}
}
