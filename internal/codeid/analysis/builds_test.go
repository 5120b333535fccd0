package analysis_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/larder-data/larder/internal/testing/testrand"
)

// buildCases is a program built in many ways: its functions are identified by source, by module version, by the whole
// program, and by files.
const buildCases = `
=== plain source by its source
const by = «2¦3»
func f(x int) string { return fmt.Sprint(by * x) }
=== tagged source by files that a tag chooses
func f(x int) string { return fmt.Sprint(by * x) }
--- a.go
//go:build fast

package tagged
const by = 5
--- b.go
//go:build !fast

package tagged
const by = 4
=== module source by a module that is declared to be pure
//reg: codeid.Options{Pure: []string{"github.com/VividCortex/ewma"}}
import "github.com/VividCortex/ewma"
func f(x int) string { a := ewma.NewMovingAverage(); a.Add(float64(x)); return fmt.Sprint(a.Value()) }
=== whole program by the whole program
func f(x int) string { return fmt.Sprint(*(*int)(unsafe.Pointer(&x))) }
=== embeds source by an embedded file
//emb: *.go text.txt
import _ "embed"
//go:embed text.txt
var text string
func f(x int) string { return text }
--- text.txt
said
`

// A buildStep builds the program once more with the same cache directory.
type buildStep struct {
	name    string
	reaches string // functions that are computed again; "*" if all may be
	before  func(t *testing.T, dir string)
	edited  bool
	flags   []string
	env     []string
	run     bool // by go run
}

// TestBuilds builds one program in common ways. No value may be stale. Changes that do not affect code compute nothing
// again: another directory, a commit, go run, coverage instrumentation.
func TestBuilds(t *testing.T) {
	needsBuilds(t)
	if !testrand.All() {
		t.Skip("builds a program in many ways; LARDER_SUITE=all does")
	}
	cases, cache := parseCases(t, buildCases), t.TempDir()
	for _, step := range []buildStep{
		{name: "first", reaches: "*"},
		{name: "again"},
		{name: "go run", run: true, reaches: "whole"},
		{name: "a commit", before: commit, flags: []string{"-buildvcs=true"}},
		{name: "coverage", flags: []string{"-cover"}, reaches: "whole"},
		{name: "a tag", flags: []string{"-tags=fast"}, reaches: "tagged whole"},
		{name: "a build ID of one's own", flags: []string{"-ldflags=-buildid=same"}, reaches: "*"},
		{name: "an edit under that build ID", edited: true, flags: []string{"-ldflags=-buildid=same"}, reaches: "plain whole"},
		{name: "an overlay", before: overlaid, flags: []string{"-overlay=overlay.json"}, reaches: "plain whole"},
		{name: "vendored", before: vendored(""), flags: []string{"-mod=vendor"}, reaches: "whole"},
		{name: "vendored and edited", before: vendored("return 99"), flags: []string{"-mod=vendor"}, reaches: "whole"},
		{name: "a workspace", before: workspace("return 77"), env: []string{"GOWORK=", "GOFLAGS="}, reaches: "whole"},
		{name: "a workspace, edited", before: workspace("return 78"), env: []string{"GOWORK=", "GOFLAGS="}, reaches: "whole"},
	} {
		t.Run(step.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, cases, variant{edited: step.edited}).write(t, dir)
			goCommand(t, dir, nil, "list", "-mod=mod", "-deps", ".") // completes go.mod
			if step.before != nil {
				step.before(t, dir)
			}
			may := set(step.reaches)
			for _, r := range step.rows(t, dir, cache) {
				if r.stale() {
					t.Errorf("stale: %s is %q and was %q", r.Name, r.Fresh, r.Value)
				}
				if r.Err != "" || r.Kind != cases[r.Name].kind {
					t.Errorf("%s is identified by %q, want %q: %s", r.Name, r.Kind, cases[r.Name].kind, r.Err)
				}
				// Larder itself has no version here, so modules are identified by the build.
				if r.Computed && !may["*"] && !may[r.Name] && r.Name != "module" {
					t.Errorf("%s is computed again", r.Name)
				}
			}
		})
	}
}

// rows builds and runs the program.
func (s buildStep) rows(t *testing.T, dir, cache string) []row {
	t.Helper()
	if s.run {
		cmd := exec.CommandContext(t.Context(), "go", "run", ".", cache)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOPROXY=off")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return parseRows(bytes.NewReader(out))
	}
	binary := filepath.Join(t.TempDir(), "p")
	goCommand(t, dir, s.env, append([]string{"build", "-o", binary}, append(s.flags, ".")...)...)
	return runProgram(t, binary, cache)
}

func goCommand(t *testing.T, dir string, env []string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOPROXY=off"), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// commit makes a repository of the directory.
func commit(t *testing.T, dir string) {
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "All"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

// overlaid has the compiler see another file than the one on disk.
func overlaid(t *testing.T, dir string) {
	file, other := filepath.Join(dir, "plain", "f.go"), filepath.Join(dir, "other.txt")
	replace(t, file, other, "const by = 2", "const by = 9")
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), fmt.Appendf(nil, `{"Replace": {%q: %q}}`, file, other), 0o666); err != nil {
		t.Fatal(err)
	}
}

// vendored copies the modules that the program depends on, and edits one.
func vendored(body string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		goCommand(t, dir, nil, "mod", "vendor")
		file := filepath.Join(dir, "vendor", "github.com", "VividCortex", "ewma", "ewma.go")
		replace(t, file, file, valueOf, valueOf+"\n"+body)
	}
}

const valueOf = "func (e *SimpleEWMA) Value() float64 {"

// workspace puts the module in a directory next to the program's.
func workspace(body string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		vendored(body)(t, dir)
		module := filepath.Join(dir, "ewma")
		if err := os.Rename(filepath.Join(dir, "vendor", "github.com", "VividCortex", "ewma"), module); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(dir, "vendor")); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{
			"go.mod": "module github.com/VividCortex/ewma\n\ngo 1.26.0\n", "../go.work": "go 1.26.0\n\nuse .\nuse ./ewma\n",
		} {
			if err := os.WriteFile(filepath.Join(module, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// replace writes a file with another text in it.
func replace(t *testing.T, from, to, old, text string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(b, []byte(old)) {
		t.Fatalf("%s has no %q", from, old)
	}
	if err := os.WriteFile(to, bytes.Replace(b, []byte(old), []byte(text), 1), 0o666); err != nil {
		t.Fatal(err)
	}
}
