package cli_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/larder-data/larder/internal/testing/testrand"
)

// batchScript makes an item from the image of each sample, and records each execution and
// each sample.
const batchScript = `echo run >> "$EXECUTIONS"
for s in "$LARDER_BATCH"/*; do
	echo $(cat "$s/in/metadata.yaml") >> "$EXECUTIONS.samples"
	wc -c < "$s/in/image.jpeg" | tr -d ' \n' > "$s/out/size.txt"
done
`

// batchFlow is a flow over 26 letters.
const batchFlow = `
version: 1
vars: {batch: 7, first: 26, on-error: fail}
nodes:
  letters: {source: underfolder, with: {path: data}}
  some: {op: slice, from: letters, with: {stop: "${first}"}}
  sized:
    map: exec
    from: some
    with: {command: [sh, size.sh], items: [image, metadata], into: [size], env: [EXECUTIONS], batch: "${batch}"}
    OPTIONS
  out: {sink: SINK, from: sized, with: {path: PATH, overwrite: replace}}
`

func newBatchBench(t *testing.T, options, sink string) *bench {
	t.Helper()
	b := newBench(t)
	b.write("size.sh", batchScript)
	path := "out"
	if sink == "jsonl" {
		path = "out.jsonl"
	}
	text := strings.NewReplacer("OPTIONS", options, "SINK", sink, "PATH", path).Replace(batchFlow)
	if sink == "jsonl" { // it holds no images
		text = strings.Replace(text, "out: {sink: jsonl, from: sized", "rows: {map: keep-keys, from: sized, with: {keys: [size, metadata]}}\n  out: {sink: jsonl, from: rows", 1)
	}
	b.write("flow.yaml", text)
	return b
}

// samples returns the number of computations of each sample since the last call.
func (b *bench) samples() map[string]int {
	b.t.Helper()
	times := map[string]int{}
	text, err := os.ReadFile(b.log + ".samples")
	if errors.Is(err, fs.ErrNotExist) {
		return times
	}
	if err = errors.Join(err, os.Remove(b.log+".samples")); err != nil {
		b.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		times[line]++
	}
	return times
}

// expectSamples checks that a run computed n samples, each once, in the given number of
// executions.
func (b *bench) expectSamples(what string, samples, executions int) {
	b.t.Helper()
	times := b.samples()
	for line, n := range times {
		if n != 1 {
			b.t.Errorf("%s: %s is made %d times", what, line, n)
		}
	}
	if got := b.executions(); len(times) != samples || got != executions {
		b.t.Errorf("%s: %d samples in %d executions, want %d in %d", what, len(times), got, samples, executions)
	}
}

// TestBatchesInFlows checks that missing samples are computed in batches for all readers
// and kinds of caching, with the same output as one by one. An edit of the script computes
// all again.
func TestBatchesInFlows(t *testing.T) {
	testrand.Long(t)
	for _, i := range testrand.Some(t, 8, 3) {
		options, sink := []string{"keep: true", "checkpoint: true", "cache: {policy: memo}", "on-error: skip"}[i/2], []string{"underfolder", "jsonl"}[i%2]
		t.Run(options+", "+sink, func(t *testing.T) {
			b := newBatchBench(t, options, sink)
			what := options + ", " + sink
			cached, first := options != "cache: {policy: memo}", 0
			if sink == "jsonl" && (options == "checkpoint: true" || options == "on-error: skip") {
				first = 1 // one sample separately, to check that the sink can hold it
			}
			if cached {
				b.run("--set", "first=3")
				b.expectSamples(what+": the first three", 3, 1+first)
			}
			r := b.run("--workers", "1")
			if cached {
				b.expectSamples(what+": the rest", 23, 4) // 3..6, 7..13, 14..20, 21..25
			} else {
				b.expectSamples(what, 26, 4)
			}
			if n := r.node(t, "sized"); cached && n.Computed != 23 || !cached && n.Computed != 26 {
				t.Errorf("%s: the report says %d computed", what, n.Computed)
			}
			batched := tree(t, b.dir)
			if cached {
				b.run("--set", "batch=1")
				b.expectSamples(what+": again", 0, 0)
			}
			if err := os.RemoveAll(b.cache); err != nil {
				t.Fatal(err)
			}
			b.run("--set", "batch=1")
			b.expectSamples(what+": one by one", 26, 26)
			sameTree(t, what, tree(t, b.dir), batched)
			b.write("size.sh", batchScript+"# edited\n")
			if plan := b.larder("run", "flow.yaml", "--dry-run"); cached && !strings.Contains(plan.stdout+plan.stderr, "size.sh") {
				t.Errorf("%s: the plan after an edit is\n%s%s", what, plan.stdout, plan.stderr)
			}
			b.expectSamples(what+": a dry run", 0, 0)
			b.run("--workers", "2")
			b.expectSamples(what+": edited", 26, 4+first)
		})
	}
}

// TestBatchesOfTwoProcesses checks that two concurrent runs with one cache compute each
// sample once, in disjoint batches.
func TestBatchesOfTwoProcesses(t *testing.T) {
	b := newBatchBench(t, "checkpoint: true", "underfolder")
	b.write("other.yaml", strings.Replace(string(readFile(t, b.path("flow.yaml"))), "path: out", "path: other", 1))
	first, second := b.command("run", "flow.yaml"), b.command("run", "other.yaml", "--set", "batch=4")
	if err := errors.Join(first.Start(), second.Start()); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(first.Wait(), second.Wait()); err != nil {
		t.Fatal(err)
	}
	times := b.samples()
	for line, n := range times {
		if n != 1 {
			t.Errorf("%s is made %d times", line, n)
		}
	}
	if got := b.executions(); len(times) != 26 || got > 26/4+26/7+2 {
		t.Errorf("%d samples in %d executions", len(times), got)
	}
	out, other := tree(t, b.path("out")), tree(t, b.path("other"))
	delete(out, ".larder")
	delete(other, ".larder")
	sameTree(t, "of the other process", other, out)
}

// TestKilledBatchGoesOn checks that results before the batch in which the program is killed
// are stored, and nothing of this batch.
func TestKilledBatchGoesOn(t *testing.T) {
	b := newBatchBench(t, "checkpoint: true", "underfolder")
	b.write("size.sh", batchScript+`
if [ "$(wc -l < "$EXECUTIONS")" = 3 ]; then
	: > "$EXECUTIONS.waiting"
	while [ -e "$EXECUTIONS.waiting" ]; do sleep 0.01; done
fi
`)
	c := b.command("run", "flow.yaml", "--workers", "1", "--set", "batch=4")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(time.Minute)
	for {
		if _, err := os.Stat(b.log + ".waiting"); err == nil {
			break
		} else if time.Now().After(deadline) {
			t.Fatal("the third batch has not begun after a minute")
		}
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err == nil {
		t.Fatal("the killed program ended well")
	}
	if err := os.Remove(b.log + ".waiting"); err != nil {
		t.Fatal(err)
	}
	b.expectSamples("before the kill", 12, 3)
	b.write("executions", "run\nrun\nrun\n") // from the fourth on
	b.run("--workers", "1", "--set", "batch=4")
	b.expectSamples("after the kill", 18, 5+3)
}

// TestBatchesWithBadSamples checks that a run with skips skips exactly the samples that the
// command reports.
func TestBatchesWithBadSamples(t *testing.T) {
	b := newBatchBench(t, "on-error: skip", "underfolder")
	b.write("size.sh", strings.Replace(batchScript, "\twc", "\tif grep -q 'letter: [cdz]' \"$s/in/metadata.yaml\"; then echo 'no such letter' > \"$s/error\"; continue; fi\n\twc", 1))
	r := b.run("--workers", "1")
	b.expectSamples("bad samples", 26, 4)
	var skipped []string
	for _, s := range r.report.Skips {
		skipped = append(skipped, fmt.Sprint(s.Node, s.Sample, s.Error))
	}
	if got, want := strings.Join(skipped, "\n"), "sized2the command failed: no such letter\nsized3the command failed: no such letter\nsized25the command failed: no such letter"; got != want {
		t.Errorf("skipped are\n%s\nwant\n%s", got, want)
	}
	if n := r.node(t, "sized"); n.Computed != 23 || n.Failed != 3 {
		t.Errorf("the report says %d computed, %d failed", n.Computed, n.Failed)
	}
	if files, err := filepath.Glob(b.path("out/data/*_size.txt")); err != nil || len(files) != 23 {
		t.Errorf("%d sizes are written, %v", len(files), err)
	}
	b.run("--workers", "1")
	b.expectSamples("then those that failed", 3, 2)
}

// TestEarlyCutoffOfBatches checks that an edit that changes no output computes no
// dependents, and that explanations and verification work by sample.
func TestEarlyCutoffOfBatches(t *testing.T) {
	testrand.Long(t)
	const first = `echo first >> "$EXECUTIONS"; for s in "$LARDER_BATCH"/*; do tail -c 300 "$s/in/image.jpeg" > "$s/out/head.bin"; done` + "\n"
	const second = `echo second >> "$EXECUTIONS"; for s in "$LARDER_BATCH"/*; do wc -c < "$s/in/head.bin" > "$s/out/size.txt"; done` + "\n"
	for _, option := range []string{"keep: true", "keep: false"} {
		b := newBench(t)
		b.write("first.sh", first)
		b.write("second.sh", second)
		b.write("flow.yaml", strings.ReplaceAll(`
version: 1
nodes:
  letters: {source: underfolder, with: {path: data}}
  first: {map: exec, from: letters, with: {command: [sh, first.sh], items: [image], into: [head], env: [EXECUTIONS], batch: 13}, KEEP}
  second: {map: exec, from: first, with: {command: [sh, second.sh], items: [head], into: [size], env: [EXECUTIONS], batch: 9}, keep: true}
  drop: {map: drop-keys, from: second, with: {keys: [head]}}
  out: {sink: underfolder, from: drop, with: {path: out, overwrite: replace}}
`, "KEEP", option))
		check := func(what string, wantFirst, wantSecond int) {
			t.Helper()
			b.run("--workers", "1")
			content := string(readFile(t, b.log))
			b.executions()
			if first, second := strings.Count(content, "first"), strings.Count(content, "second"); first != wantFirst || second != wantSecond {
				t.Errorf("%s, %s: %d and %d executions, want %d and %d", option, what, first, second, wantFirst, wantSecond)
			}
		}
		check("first run", 2, 4) // 13, 13; 9, 4, 9, 4
		check("second run", 0, 0)
		b.write("first.sh", "# now with a comment\n"+first)
		if r := b.larder("why", "flow.yaml", "first", "3"); option == "keep: true" && !strings.Contains(r.stdout, "first, sample 3: code first.sh") {
			t.Errorf("why: %s%s", r.stdout, r.stderr)
		}
		check("first edited, its output equal", 2, 0)
		check("again", 0, 0)
		b.write("second.sh", second+"# edited\n")
		if r := b.larder("why", "flow.yaml", "second"); !strings.Contains(r.stdout, "second: 26 to compute") {
			t.Errorf("why: %s%s", r.stdout, r.stderr)
		}
		check("second edited", 0, 4)
		if r := b.larder("verify", "flow.yaml"); option == "keep: true" && r.status != 0 {
			t.Errorf("verify: status %d\n%s%s", r.status, r.stdout, r.stderr)
		}
	}
}

// TestValidateInBatches checks that validation computes samples in batches, and that a
// failed sample is a violation.
func TestValidateInBatches(t *testing.T) {
	b := newBatchBench(t, "keep: true", "underfolder")
	b.write("size.sh", strings.Replace(batchScript, "\twc", "\tif grep -q 'letter: c' \"$s/in/metadata.yaml\"; then echo 'no such letter' > \"$s/error\"; continue; fi\n\twc", 1))
	b.write("schema.yaml", "version: 1\nitems:\n  size: {kind: text}\n")
	r := b.larder("validate", "flow.yaml", "sized", "--schema", "schema.yaml", "--workers", "1")
	mustContain(t, "the report", r.stdout+r.stderr, "sample 2: ", "no such letter", "1 of 26 samples")
	b.expectSamples("validated", 26, 4)
}
