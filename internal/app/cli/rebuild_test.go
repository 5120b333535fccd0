package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/larder-data/larder/internal/testing/testrand"
)

// countingScript records each execution and makes an item from the image.
const countingScript = `#!/bin/sh
echo run >> "$EXECUTIONS"
wc -c < "$LARDER_IN/image.jpeg" | tr -d ' \n' > "$LARDER_OUT/size.txt"
`

const lettersFlow = `
version: 1
vars: {data: data, times: 10}
nodes:
  letters: {source: underfolder, with: {path: "${data}"}}
  sized:
    map: exec
    from: letters
    with: {command: [sh, size.sh], items: [image], into: [size], env: [EXECUTIONS]}
    checkpoint: true
  many: {op: repeat, from: sized, with: {times: "${times}"}}
  out: {sink: underfolder, from: many, with: {path: out, overwrite: replace}}
`

func TestRebuildsOnlyWhatChanged(t *testing.T) {
	b := newBench(t)
	b.write("size.sh", countingScript)
	b.write("flow.yaml", lettersFlow)
	expect := func(what string, want int, args ...string) {
		t.Helper()
		r := b.run(args...)
		if got := b.executions(); got != want {
			t.Errorf("%s: %d executions, want %d\n%s", what, got, want, r.stderr)
		}
		if n := r.node(t, "sized"); int(n.Computed) != want || n.Computed+n.FromMemory+n.FromStore != 26 {
			t.Errorf("%s: report says computed %d, from memory %d, from store %d of 26", what, n.Computed, n.FromMemory, n.FromStore)
		}
	}
	expect("first run", 26)
	out := tree(t, b.path("out"))
	if len(out) != 260*3+3 {
		t.Fatalf("%d files written, want 260 samples of 3, two shared items and the mark", len(out))
	}
	expect("second run", 0)
	sameTree(t, "after the second run", tree(t, b.path("out")), out)

	image := b.path("data/data/03_image.jpeg")
	original, err := os.ReadFile(image)
	if err != nil {
		t.Fatal(err)
	}
	b.write("data/data/03_image.jpeg", string(original)+"x")
	expect("one image replaced", 1)

	future := time.Now().Add(-time.Hour)
	for name := range tree(t, b.path("data")) {
		if err := os.Chtimes(b.path(filepath.Join("data", name)), future, future); err != nil {
			t.Fatal(err)
		}
	}
	expect("files touched", 0)

	if err := os.Rename(b.path("data"), b.path("elsewhere")); err != nil {
		t.Fatal(err)
	}
	expect("dataset moved", 0, "--set", "data=elsewhere")

	b.write("size.sh", countingScript+"# edited\n")
	expect("code changed", 26, "--set", "data=elsewhere")
	b.write("size.sh", countingScript)
	expect("code changed back", 0, "--set", "data=elsewhere")
}

// TestFilesInWordsAreCode checks that cached results depend on the script that part of a
// word names.
func TestFilesInWordsAreCode(t *testing.T) {
	b := newBench(t)
	b.write("size.sh", countingScript)
	b.write("flow.yaml", strings.Replace(lettersFlow, "[sh, size.sh]", "[sh, -c, 'sh "+b.path("size.sh")+"']", 1))
	for _, c := range []struct {
		script string
		want   int
	}{{countingScript, 26}, {countingScript, 0}, {countingScript + "# edited\n", 26}, {countingScript, 0}} {
		b.write("size.sh", c.script)
		if r := b.run("--set", "times=1"); r.status != 0 {
			t.Fatal(r.stderr)
		}
		if got := b.executions(); got != c.want {
			t.Errorf("%d executions, want %d", got, c.want)
		}
	}
}

func TestEarlyCutoff(t *testing.T) {
	testrand.Long(t)
	const first = `echo first >> "$EXECUTIONS"; tail -c 300 "$LARDER_IN/image.jpeg" > "$LARDER_OUT/head.bin"` + "\n"
	const second = `echo second >> "$EXECUTIONS"; wc -c < "$LARDER_IN/head.bin" > "$LARDER_OUT/size.txt"` + "\n"
	for _, option := range []string{"keep: true", "checkpoint: true", "keep: false"} {
		t.Run(option, func(t *testing.T) {
			b := newBench(t)
			b.write("first.sh", first)
			b.write("second.sh", second)
			b.write("flow.yaml", strings.ReplaceAll(`
version: 1
nodes:
  letters: {source: underfolder, with: {path: data}}
  first: {map: exec, from: letters, with: {command: [sh, first.sh], items: [image], into: [head], env: [EXECUTIONS]}, KEEP}
  second: {map: exec, from: first, with: {command: [sh, second.sh], items: [head], into: [size], env: [EXECUTIONS]}, keep: true}
  drop: {map: drop-keys, from: second, with: {keys: [head]}}
  out: {sink: underfolder, from: drop, with: {path: out, overwrite: replace}}
`, "KEEP", option))
			count := func() (first, second int) {
				content, err := os.ReadFile(b.log)
				if err != nil {
					t.Fatal(err)
				}
				b.executions()
				return strings.Count(string(content), "first"), strings.Count(string(content), "second")
			}
			check := func(what string, wantFirst, wantSecond int) {
				t.Helper()
				b.run()
				if first, second := count(); first != wantFirst || second != wantSecond {
					t.Errorf("%s: %d and %d executions, want %d and %d", what, first, second, wantFirst, wantSecond)
				}
			}
			check("first run", 26, 26)
			check("second run", 0, 0)
			b.write("first.sh", "# now with a comment\n"+first)
			check("first edited, its output equal", 26, 0)
			check("again", 0, 0)
			b.write("second.sh", second+"# edited\n")
			check("second edited", 0, 26) // all items of a cached sample are cached
		})
	}
}

func TestTwoProcessesComputeOnce(t *testing.T) {
	b := newBench(t)
	b.write("size.sh", countingScript)
	b.write("flow.yaml", lettersFlow)
	const processes = 2
	errs := make(chan error, processes)
	for range processes {
		c := b.command("run", "flow.yaml", "--set", "times=2")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		go func() { errs <- c.Wait() }()
	}
	for range processes {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if got := b.executions(); got != 26 {
		t.Errorf("%d executions in two processes, want 26", got)
	}
	if got := len(tree(t, b.path("out"))); got != 52*3+3 {
		t.Errorf("%d files in the output", got)
	}
}

// waitingScript reports from the tenth execution on that it waits, and waits while the file
// EXECUTIONS.wait exists.
const waitingScript = countingScript + `
if [ "$(wc -l < "$EXECUTIONS")" -gt 10 ] && [ -e "$EXECUTIONS.wait" ]; then
	: > "$EXECUTIONS.waiting.$$"
	while [ -e "$EXECUTIONS.wait" ]; do sleep 0.01; done
fi
`

// startAndWait starts a run with n workers, and returns when all of them wait in their
// commands.
func startAndWait(b *bench, workers int, args ...string) *exec.Cmd {
	b.t.Helper()
	b.write("size.sh", waitingScript)
	b.write("flow.yaml", lettersFlow)
	if err := os.WriteFile(b.log+".wait", nil, 0o666); err != nil {
		b.t.Fatal(err)
	}
	args = append([]string{"run", "flow.yaml", "--set", "times=1", "--workers", strconv.Itoa(workers)}, args...)
	c := b.command(args...)
	if err := c.Start(); err != nil {
		b.t.Fatal(err)
	}
	deadline := time.Now().Add(time.Minute)
	for waiting := 0; waiting < workers; {
		names, err := filepath.Glob(b.log + ".waiting.*")
		if err != nil || time.Now().After(deadline) {
			b.t.Fatalf("after a minute %d of %d workers wait, error %v", waiting, workers, err)
		}
		waiting = len(names)
	}
	return c
}

// goOn lets waiting commands continue.
func goOn(b *bench) {
	b.t.Helper()
	if err := os.Remove(b.log + ".wait"); err != nil {
		b.t.Fatal(err)
	}
}

func TestKilledRunGoesOn(t *testing.T) {
	b := newBench(t)
	const workers = 2
	c := startAndWait(b, workers)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err == nil {
		t.Fatal("the killed program ended well")
	}
	before := b.executions()
	goOn(b)
	b.run("--set", "times=1")
	if after := b.executions(); after != 26-(before-workers) {
		t.Errorf("%d executions before the kill, %d of them in flight, and %d after it; want only what was not finished", before, workers, after)
	}
}

func TestInterruptKeepsWhatWasComputed(t *testing.T) {
	b := newBench(t)
	c := startAndWait(b, 1, "--report", "report.json")
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err == nil || c.ProcessState.ExitCode() != 130 {
		t.Errorf("an interrupted run ends with %v, status %d; want 130", err, c.ProcessState.ExitCode())
	}
	mustContain(t, "the report", string(readFile(t, b.path("report.json"))), `"status": "interrupted"`, `"computed": 10`)
	goOn(b)
	b.executions()
	b.run("--set", "times=1")
	if got := b.executions(); got != 16 {
		t.Errorf("%d executions after the interrupt, want the 16 that were not finished", got)
	}
}
