package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/larder-data/larder/objectstore/objectstoretest"
)

// sharedServer starts a Redis server, and sets LARDER_STORE to it.
func sharedServer(t *testing.T) (stop func()) {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("redis-server is not on the PATH (Debian: apt-get install redis-server)")
	}
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	cmd := exec.CommandContext(context.Background(), program, "--port", "0", "--unixsocket", socket, "--save", "", "--dir", dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = func() {
		_ = cmd.Process.Kill()
		_, _ = cmd.Process.Wait()
	}
	t.Cleanup(stop)
	for start := time.Now(); ; <-time.After(2 * time.Millisecond) {
		if _, err := os.Stat(socket); err == nil {
			break
		}
		if time.Since(start) > 20*time.Second {
			t.Fatal("the server does not listen")
		}
	}
	t.Setenv("LARDER_STORE", "unix://"+socket+"?max-bytes=10MB")
	return stop
}

// TestShared checks that one machine finds and deletes the results of another, and that
// without the server only these are missing.
func TestShared(t *testing.T) {
	stop := sharedServer(t)
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	if err := os.MkdirAll(data, 0o777); err != nil {
		t.Fatal(err)
	}
	count := filepath.Join(t.TempDir(), "count")
	if err := os.WriteFile(filepath.Join(data, "rows.jsonl"), []byte("{\"a\": 1}\n{\"a\": 2}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	flow := filepath.Join(dir, "flow.yaml")
	text := fmt.Sprintf(`version: 1
nodes:
  in: {source: jsonl, with: {path: data/rows.jsonl}}
  made: {map: exec, from: in, keep: true, with: {command: [sh, -c, 'echo >>%s; echo yes >"$LARDER_OUT/text.txt"'], items: [a], into: [text]}}
  out: {sink: jsonl, from: made, with: {path: out.jsonl, overwrite: replace}}
`, count)
	if err := os.WriteFile(flow, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	executions := func() int {
		b, _ := os.ReadFile(count)
		return strings.Count(string(b), "\n")
	}
	run := func(machine string, want int) result {
		t.Helper()
		if err := os.RemoveAll(filepath.Join(dir, "out.jsonl")); err != nil { // otherwise it is up to date
			t.Fatal(err)
		}
		r := inProcess(t, filepath.Join(dir, machine), "run", flow, "--progress", "none")
		if r.status != 0 || executions() != want {
			t.Fatalf("machine %s: status %d, %d executions, want %d: %s", machine, r.status, executions(), want, r.stderr)
		}
		return r
	}
	run("a", 2)
	run("b", 2)
	if r := inProcess(t, filepath.Join(dir, "b"), "stats"); r.status != 0 || !strings.Contains(r.stdout, "\nshared: ") || !strings.Contains(r.stdout, "of 9.5 MiB; unix://") {
		t.Errorf("stats: %s%s", r.stdout, r.stderr)
	}
	if r := inProcess(t, filepath.Join(dir, "b"), "clear", "exec"); r.status != 0 {
		t.Errorf("clear: %s", r.stderr)
	}
	run("b", 4)
	run("c", 4)
	stop()
	if r := run("d", 6); strings.Count(r.stderr, "the shared store cannot be used") != 1 {
		t.Errorf("stderr:\n%s", r.stderr)
	}
	run("b", 6)
	if r := inProcess(t, filepath.Join(dir, "b"), "ls"); r.status != 0 || strings.Contains(r.stderr, "shared") {
		t.Errorf("ls looks at more than this machine: %s", r.stderr)
	}
}

// TestBucket checks that one machine finds the results of another in a bucket, and that one that may only read stores
// nothing there.
func TestBucket(t *testing.T) {
	_, objects := objectstoretest.S3(t)
	dir := t.TempDir()
	flow := filepath.Join(dir, "flow.yaml")
	text := `version: 1
nodes:
  in: {source: jsonl, with: {path: rows.jsonl}}
  sums: {map: compute, from: in, keep: true, with: {set: {x: a+1}}}
  out: {sink: jsonl, from: sums, with: {path: out.jsonl, overwrite: replace}}
`
	if err := os.WriteFile(filepath.Join(dir, "rows.jsonl"), []byte("{\"a\": 1}\n{\"a\": 2}\n{\"a\": 3}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(flow, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	stored := func() int { return len(objects.Names()) }
	for _, test := range []struct{ machine, store, want string }{
		{"a", "s3://bucket/team?read-only", "3 computed"},
		{"b", "s3://bucket/team", "3 computed"},
		{"c", "s3://bucket/team?read-only", "0 computed"},
		{"d", "s3://bucket/other", "3 computed"},
	} {
		if err := os.RemoveAll(filepath.Join(dir, "out.jsonl")); err != nil { // otherwise it is up to date
			t.Fatal(err)
		}
		before, file := stored(), filepath.Join(dir, "report.json")
		r := inProcess(t, filepath.Join(dir, test.machine), "run", flow, "--store", test.store, "--report", file)
		if r.status != 0 {
			t.Fatalf("machine %s: status %d, %s", test.machine, r.status, r.stderr)
		}
		var report struct {
			Nodes []struct {
				Name     string `json:"name"`
				Computed int    `json:"computed"`
			} `json:"nodes"`
		}
		if b, err := os.ReadFile(file); err != nil || json.Unmarshal(b, &report) != nil {
			t.Fatalf("%s, %v", b, err)
		}
		for _, n := range report.Nodes {
			if got := fmt.Sprint(n.Computed, " computed"); n.Name == "sums" && got != test.want {
				t.Errorf("machine %s: %s, want %s", test.machine, got, test.want)
			}
		}
		if wrote := stored() > before; wrote == strings.HasSuffix(test.store, "read-only") {
			t.Errorf("machine %s: %d objects before and %d after", test.machine, before, stored())
		}
	}
	if r := inProcess(t, filepath.Join(dir, "a"), "stats", "--store", "s3://bucket/team"); r.status != 0 || !strings.Contains(r.stdout, "\nshared: ") {
		t.Errorf("stats: %s%s", r.stdout, r.stderr)
	}
	t.Setenv("LARDER_STORE_SECRET", "")
	if r := inProcess(t, filepath.Join(dir, "a"), "run", flow, "--store", "s3://bucket/team"); r.status != 2 || !strings.Contains(r.stderr, "LARDER_STORE_SECRET is empty") {
		t.Errorf("status %d, %s", r.status, r.stderr)
	}
	if r := inProcess(t, filepath.Join(dir, "a"), "run", flow, "--store", "redis://u:hunter2@host"); r.status != 2 || !strings.Contains(r.stderr, "visible to all users") || strings.Contains(r.stderr, "hunter2") {
		t.Errorf("status %d, %s", r.status, r.stderr)
	}
}

func TestWrongShared(t *testing.T) {
	for text, want := range map[string]string{
		"redis://host/0?u:hunter2@":              "unknown setting",
		"redis://host?max-bytes=hunter2":         "max-bytes is not a size",
		"unix:///u:hunter2@/run/redis":           "invalid server address; write redis://host:6379/0",
		"redis://u:hunter2@host:port":            "invalid server address; write redis://host:6379/0",
		"http://u:hunter2@host":                  "unknown kind of store; write redis://host:6379/0 or s3://bucket/directory",
		"s3://bucket/a?hunter2":                  "unknown setting; valid: read-only",
		"redis://u:hunter2@host?max-record=1TiB": "MaxRecord is",
	} {
		t.Setenv("LARDER_STORE", text)
		r := inProcess(t, t.TempDir(), "run", "../../../examples/letters/flow.yaml")
		if r.status != 2 || !strings.Contains(r.stderr, want) || !strings.Contains(r.stderr, "LARDER_STORE") || strings.Contains(r.stderr, "hunter2") {
			t.Errorf("%s: status %d, %s", text, r.status, r.stderr)
		}
	}
}
