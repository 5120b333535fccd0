package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/larder-data/larder/internal/testing/testrand"
)

// TestStandardOutputTakesRows checks that -o FORMAT:- prints rows, complete or not at all.
func TestStandardOutputTakesRows(t *testing.T) {
	b := newBench(t)
	b.write("in.jsonl", "{\"a\":1}\n{\"a\":2}\n")
	if r := b.must("op reverse -i jsonl:in.jsonl -o jsonl:- --progress none"); r.stdout != "{\"a\":2}\n{\"a\":1}\n" {
		t.Errorf("printed %q", r.stdout)
	}
	if r := b.must("op chunk --n 2 -i jsonl:in.jsonl -o jsonl:- -o jsonl:rest.jsonl --progress none"); r.stdout != "{\"a\":1}\n" {
		t.Errorf("of two outputs it printed %q", r.stdout)
	}
	if _, err := os.Stat(b.path("-")); err == nil {
		t.Error("there is a file called -")
	}
	if r := b.larder("op", "clone", "-i", "data", "-o", "underfolder:-"); r.status != 2 || !strings.Contains(r.stderr, "csv and jsonl can") {
		t.Errorf("status %d: %s", r.status, r.stderr)
	}
	if r := b.larder("op", "filter", "--where", "a / 0 == b", "-i", "jsonl:in.jsonl", "-o", "jsonl:-"); r.status == 0 || r.stdout != "" {
		t.Errorf("one that fails: status %d, %q", r.status, r.stdout)
	}
}

// TestFullStandardOutput checks that requested output that cannot be written is a failure.
func TestFullStandardOutput(t *testing.T) {
	testrand.Long(t)
	b := newBench(t)
	b.write("flow.yaml", statsFlow)
	for _, args := range []string{"components", "components exec", "schema", "formats", "ls", "stats", "audit flow.yaml", "lint flow.yaml", "tree flow.yaml", "why flow.yaml stats",
		"simulate", "run flow.yaml --dry-run --json", "run flow.yaml --report -", "op clone -i data -o csv:-", "components --json"} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		c := b.command(strings.Fields(args)...)
		var stderr bytes.Buffer
		c.Stdout, c.Stderr = full, &stderr
		_ = c.Run() // the status tells
		full.Close()
		whole := b.larder(strings.Fields(args)...)
		if whole.stdout != "" && (c.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "no space left")) {
			t.Errorf("%s: status %d: %s", args, c.ProcessState.ExitCode(), stderr.String())
		}
	}
}

// TestNoHome checks that a run without a cache directory passes results through, with one
// warning, and that commands about the cache fail.
func TestNoHome(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", statsFlow)
	b.write("file", "")
	c := b.command("run", "flow.yaml", "--progress", "none")
	list := b.command("ls")
	for _, c := range []*[]string{&c.Env, &list.Env} {
		*c = append(*c, "LARDER_CACHE=", "XDG_CACHE_HOME=", "HOME="+b.path("file/home"))
	}
	out, err := c.CombinedOutput()
	if err != nil || strings.Count(string(out), "results are cached for this run only") != 1 {
		t.Errorf("%v\n%s", err, out)
	}
	if files, _ := filepath.Glob(b.path("out/data/*")); len(files) == 0 {
		t.Error("nothing was written")
	}
	if out, err := list.CombinedOutput(); err == nil {
		t.Errorf("ls ends well:\n%s", out)
	}
}

// TestWatchPassesOverItsLog checks that the program's own output in a watched file causes
// no run.
func TestWatchPassesOverItsLog(t *testing.T) {
	w := newWatched(t, watchedFlow, "--report", "-")
	log, err := os.Create(w.path("data/data/1_log.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	w.cmd.Stdout = log
	w.start()
	w.ran("ok in", 26)
	w.grow("05_image.jpeg")
	w.changed("data/data/05_image.jpeg", "ok in", 1)
}
