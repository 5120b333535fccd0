package cli_test

import (
	"encoding/json"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
)

// TestVersion checks the line, and the same as JSON.
func TestVersion(t *testing.T) {
	b := newBench(t)
	r := b.must("version")
	mustContain(t, "the line", r.stdout, "larder ", "store version 2", runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH)
	r = b.must("version --json")
	var v struct {
		Module, Version, Go, Platform string
		Store                         int
	}
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil || v.Version == "" || v.Store != 2 || v.Go != runtime.Version() {
		t.Errorf("%+v, %v in %s", v, err, r.stdout)
	}
}

// TestProfiles checks that they are written, also if the command fails, and never over an
// existing file.
func TestProfiles(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", "version: 1\nnodes:\n  letters: {source: underfolder, with: {path: data}}\n  out: {sink: underfolder, from: letters, with: {path: out}}\n")
	b.must("run flow.yaml --cpuprofile cpu --memprofile memory --exectrace trace")
	for name, start := range map[string]string{"cpu": "\x1f\x8b", "memory": "\x1f\x8b", "trace": "go 1."} {
		if got := readFile(t, b.path(name)); !strings.HasPrefix(string(got), start) {
			t.Errorf("%s is not a profile: %.20q", name, got)
		}
	}
	if r := b.larder("run", "missing.yaml", "--cpuprofile", "failed"); r.status == 0 {
		t.Error("a flow that is missing has status 0")
	}
	if got := readFile(t, b.path("failed")); len(got) == 0 {
		t.Error("a command that fails leaves no profile")
	}
	was := readFile(t, b.path("flow.yaml"))
	r := b.larder("run", "flow.yaml", "--memprofile", "flow.yaml")
	if now, err := os.ReadFile(b.path("flow.yaml")); r.status != 2 || err != nil || string(now) != string(was) {
		t.Errorf("status %d, %v: %s", r.status, err, r.stderr)
	}
	mustContain(t, "the error", r.stderr, "--memprofile", "flow.yaml", "already exists")
}

// TestManualPages checks that each command has a page that lists its flags, and that a link
// of that name is not followed.
func TestManualPages(t *testing.T) {
	b := newBench(t)
	b.write("precious", "mine")
	if err := errors.Join(os.Mkdir(b.path("man"), 0o755), os.Symlink(b.path("precious"), b.path("man/larder-run.1"))); err != nil {
		t.Fatal(err)
	}
	b.must("man man")
	mustContain(t, "the page of run", string(readFile(t, b.path("man/larder-run.1"))), "dry-run", "checkpoints", ".TH")
	mustContain(t, "the page of all", string(readFile(t, b.path("man/larder.1"))), "larder-why(1)")
	if got := string(readFile(t, b.path("precious"))); got != "mine" {
		t.Errorf("what a link led to is %.40q", got)
	}
	if pages, err := os.ReadDir(b.path("man")); err != nil || len(pages) < 40 {
		t.Errorf("%d pages, %v", len(pages), err)
	}
}
