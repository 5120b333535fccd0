package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/app/cli"
	"github.com/larder-data/larder/internal/testing/mountns"
)

// TestMain makes the test binary act as the program, so tests can run and kill real
// processes.
func TestMain(m *testing.M) {
	if os.Getenv("LARDER_TEST_AS_PROGRAM") != "" {
		os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr))
	}
	mountns.Enter()
	os.Exit(m.Run())
}

// bench has a directory with a copy of the letters, its own cache, and a log to which every
// execution of the test's command adds a line.
type bench struct {
	t     *testing.T
	dir   string // of the flow
	cache string
	log   string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	dir := t.TempDir()
	b := &bench{t: t, dir: filepath.Join(dir, "work"), cache: filepath.Join(dir, "cache"), log: filepath.Join(dir, "executions")}
	b.write("executions", "")
	if err := os.CopyFS(filepath.Join(b.dir, "data"), os.DirFS("../../../examples/letters/data")); err != nil {
		t.Fatal(err)
	}
	return b
}

// write writes a file of the flow's directory; the log is next to it.
func (b *bench) write(name, content string) {
	b.t.Helper()
	path := b.path(name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(content), 0o666)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) path(name string) string {
	if name == "executions" {
		return b.log
	}
	return filepath.Join(b.dir, name)
}

// executions returns the number of runs of the command since the last call.
func (b *bench) executions() int {
	b.t.Helper()
	content, err := os.ReadFile(b.log)
	if err != nil {
		b.t.Fatal(err)
	}
	b.write("executions", "")
	return bytes.Count(content, []byte("\n"))
}

// result describes the end of a process.
type result struct {
	status         int
	stdout, stderr string
	report         *flow.Report
}

func (b *bench) command(args ...string) *exec.Cmd {
	b.t.Helper()
	c := exec.CommandContext(b.t.Context(), os.Args[0], args...)
	c.Dir = b.dir
	c.Env = append(os.Environ(), "LARDER_TEST_AS_PROGRAM=1", "LARDER_CACHE="+b.cache, "EXECUTIONS="+b.log)
	return c
}

// larder runs the program to its end.
func (b *bench) larder(args ...string) result {
	b.t.Helper()
	c := b.command(args...)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		b.t.Fatal(err)
	}
	return result{status: c.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
}

// run runs the directory's flow, which must succeed.
func (b *bench) run(args ...string) result {
	b.t.Helper()
	return b.runFlow("flow.yaml", args...)
}

// runFlow runs a flow, which must succeed.
func (b *bench) runFlow(file string, args ...string) result {
	b.t.Helper()
	r := b.larder(append([]string{"run", file, "--report", "-"}, args...)...)
	if r.status != 0 {
		b.t.Fatalf("status %d\n%s", r.status, r.stderr)
	}
	r.report = new(flow.Report)
	if err := json.Unmarshal([]byte(r.stdout), r.report); err != nil {
		b.t.Fatalf("report: %v\n%s", err, r.stdout)
	}
	return r
}

// node returns the report of a node.
func (r result) node(t *testing.T, name string) flow.NodeReport {
	t.Helper()
	for _, n := range r.report.Nodes {
		if n.Name == name {
			return n
		}
	}
	t.Fatalf("the report has no node %s", name)
	return flow.NodeReport{}
}

// tree returns the content of every file below a directory, by relative path.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[rel] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func sameTree(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	if !maps.Equal(got, want) {
		for name, content := range want {
			if got[name] != content {
				t.Errorf("%s: %s differs", what, name)
			}
		}
		for name := range got {
			if _, ok := want[name]; !ok {
				t.Errorf("%s: %s should not be there", what, name)
			}
		}
	}
}

func mustContain(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s should say %q:\n%s", what, part, text)
		}
	}
}

// mainIn runs the program within the test process.
func mainIn(b *bench, stderr io.Writer, args ...string) int {
	b.t.Helper()
	return cli.Main(args, io.Discard, stderr)
}
