package cli_test

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/larder-data/larder/internal/testing/pythontest"
)

// TestKilledWhileAGeneratorIsRead checks that a killed run leaves its cached results, no
// incomplete dataset and no worker, and that the next run continues.
func TestKilledWhileAGeneratorIsRead(t *testing.T) {
	pythontest.Need(t)
	b := newBench(t)
	b.write("gen.py", `
import os, time
def rows():
    waiting = os.path.join(os.path.dirname(__file__), "waiting")
    for n in range(3000):
        if n == 2000 and os.path.exists(waiting): # then 1333 at least were taken
            with open(waiting, "w") as f: f.write(str(os.getpid()))
            time.sleep(1000)
        yield n
`)
	b.write("flow.yaml", `
version: 1
nodes:
  rows: {source: python, with: {function: "gen:rows", into: [n], version: "1"}}
  all: {op: materialise, from: rows}
  out: {sink: jsonl, from: all, with: {path: out.jsonl}}
`)
	if err := syscall.Mkfifo(b.path("waiting"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := b.command("run", "flow.yaml", "--progress", "none")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	worker, err := os.ReadFile(b.path("waiting")) // until it waits
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	if _, err := os.Stat(b.path("out.jsonl")); err == nil {
		t.Error("there is an output of a part")
	}
	if err := os.Remove(b.path("waiting")); err != nil {
		t.Fatal(err)
	}
	if n := b.run().node(t, "rows").Samples; n != 3000-1024 {
		t.Errorf("the next run has %d of 3000 elements from the function", n)
	}
	if n := strings.Count(string(readFile(t, b.path("out.jsonl"))), "\n"); n != 3000 {
		t.Errorf("%d lines", n)
	}
	if state, err := os.ReadFile("/proc/" + string(worker) + "/stat"); err == nil && !strings.Contains(string(state), ") Z ") {
		t.Errorf("the worker is left: %s", state)
	}
}
