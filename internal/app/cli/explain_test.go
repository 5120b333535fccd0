package cli_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/lazy"
)

const twoMappers = `version: 1
nodes:
  letters: {source: underfolder, with: {path: data}}
  small: {map: image-resize, from: letters, with: {width: 8}, keep: true}
  sized:
    map: exec
    from: small
    with: {command: [sh, size.sh], items: [image], into: [size]}
    checkpoint: true
  out: {sink: underfolder, from: sized, with: {path: out}}
`

func explained(t *testing.T, size string) *bench {
	t.Helper()
	b := newBench(t)
	b.write("flow.yaml", twoMappers)
	b.write("size.sh", size)
	if r := b.larder("run", "flow.yaml"); r.status != 0 {
		t.Fatal(r.stderr)
	}
	return b
}

const countBytes = `cat "$LARDER_IN"/image.* | wc -c > "$LARDER_OUT/size.txt"`

func TestWhyOfFlow(t *testing.T) {
	b, flowText := explained(t, countBytes), twoMappers
	for _, step := range []struct {
		old, new string
		args     []string
		want     string
	}{
		{"x", "x", []string{"small"}, "small: nothing to compute; 26 of 26 results are cached\n"},
		{"width: 8", "width: 9", []string{"small"}, "small: 26 to compute, 0 cached\n  width: changed (8 -> 9) (26, the first is sample 0)\n"},
		{"x", "x", []string{"small", "3"}, "small, sample 3: width: changed (8 -> 9)\n"},
		{"width: 9", "width: 8", []string{"sized", "3"}, "small, sample 3: cached\nsized, sample 3: cached\n"},
	} {
		flowText = strings.ReplaceAll(flowText, step.old, step.new)
		b.write("flow.yaml", flowText)
		r := b.larder(append([]string{"why", "flow.yaml"}, step.args...)...)
		if r.status != 0 || !strings.HasPrefix(r.stdout, step.want) {
			t.Errorf("why %v: status %d\n%s%s\nwant\n%s", step.args, r.status, r.stdout, r.stderr, step.want)
		}
	}
	b.write("size.sh", countBytes+" # edited")
	r := b.larder("why", "flow.yaml", "sized")
	mustContain(t, "edited code", r.stdout, "sized: 26 to compute", "size.sh")
	for _, args := range [][]string{{"flow.yaml", "smal"}, {"flow.yaml", "out"}, {"flow.yaml", "small", "99"}, {"flow.yaml", "small", "x"}, {"nothing"}} {
		if r := b.larder(append([]string{"why"}, args...)...); r.status != 2 {
			t.Errorf("why %v: status %d: %s", args, r.status, r.stderr)
		}
	}
}

func TestWhyAndTreeOfLazyValues(t *testing.T) {
	dir := t.TempDir()
	l, err := larder.Open(larder.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	square := func(_ context.Context, x int) (int, error) { return x * x, nil }
	half := lazy.Func1("half", func(_ context.Context, x int) (int, error) { return x / 2, nil }, lazy.Options{Version: "1"})
	for version, x := range map[string]int{"1": 2, "2": 4} {
		sq := lazy.Func1("sq", square, lazy.Options{Version: version})
		if _, err := half(sq(lazy.Of(x))).Get(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	r := inProcess(t, dir, "why", "sq")
	if ok, _ := regexp.MatchString(`^sq k1-\w+\n  differs from k1-\w+, the most similar earlier result:\n  code: changed \(version . -> version .\)\n  argument 0: changed \(. -> .\)\n$`, r.stdout); !ok || r.status != 0 {
		t.Errorf("why: status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	key := regexp.MustCompile(`k1-\w+`)
	// A link record is identified by the key with which the tree was requested.
	ls := inProcess(t, dir, "ls", "half", "--records")
	found := false
	for _, k := range key.FindAllString(ls.stdout, -1) {
		r := inProcess(t, dir, "tree", k)
		found = found || strings.Contains(r.stdout, "[x] half") && strings.Contains(r.stdout, "└─ [x] sq")
	}
	if !found {
		t.Errorf("no tree shows half above sq:\n%s", ls.stdout)
	}
}

func TestTreeOfFlow(t *testing.T) {
	b := explained(t, countBytes)
	r := b.larder("tree", "flow.yaml")
	cost := regexp.MustCompile(`[\d.]+s\)`)
	want := `[ ] out (underfolder): 26 samples
└─ [x] sized (exec): 26 samples, 26 cached, 0 to compute (they cost #
   └─ [x] small (image-resize): 26 samples, 26 cached, 0 to compute (they cost #
      └─ [ ] letters (underfolder): 26 samples
`
	if got := cost.ReplaceAllString(r.stdout, "#"); got != want || r.status != 0 {
		t.Errorf("status %d, got\n%swant\n%s", r.status, got, want)
	}
	want = `[ ] sized, sample 3: image, metadata, consonants, vowels, size
├─ [x] image: made by small, sample 3
│  └─ [ ] image: DIR/data/data/03_image.jpeg
├─ [ ] metadata: DIR/data/data/03_metadata.yaml
├─ [ ] consonants: DIR/data/consonants.yaml
├─ [ ] vowels: DIR/data/vowels.yaml
└─ [x] size: made by sized, sample 3
   └─ [x] image: see above
`
	r = b.larder("tree", "flow.yaml", "sized", "3")
	if got := strings.ReplaceAll(r.stdout, b.dir, "DIR"); got != want || r.status != 0 {
		t.Errorf("of a sample: status %d: %s, got\n%swant\n%s", r.status, r.stderr, got, want)
	}
	for says, args := range map[string][]string{"there is no sample 99": {"sized", "99"}, "is a sink; name the node": {"out", "1"}, "must be a number from 0": {"sized", "x"}} {
		if r := b.larder(append([]string{"tree", "flow.yaml"}, args...)...); r.status != 2 || !strings.Contains(r.stderr, says) {
			t.Errorf("tree %q: status %d: %s", args, r.status, r.stderr)
		}
	}
	mustContain(t, "dot", b.larder("tree", "flow.yaml", "sized", "--format", "dot").stdout, "digraph", `"small" -> "sized"`)
	mustContain(t, "mermaid", b.larder("tree", "flow.yaml", "--format", "mermaid").stdout, "flowchart LR", "-->")
	if r := b.larder("tree", "flow.yaml", "--format", "ascii"); r.status != 2 {
		t.Errorf("an unknown format: status %d", r.status)
	}
}

func TestVerifyFlow(t *testing.T) {
	b := explained(t, countBytes)
	if r := b.larder("verify", "flow.yaml"); r.status != 0 || r.stdout != "" {
		t.Errorf("reproducible: status %d\n%s%s", r.status, r.stdout, r.stderr)
	} else {
		mustContain(t, "reproducible", r.stderr, "52 cached results computed again, 0 differ")
	}
	b = explained(t, `date +%s%N > "$LARDER_OUT/size.txt"`)
	r := b.larder("verify", "flow.yaml")
	if r.status != 1 || strings.Count(r.stdout, "exec (") != 26 || strings.Contains(r.stdout, "image-resize") {
		t.Errorf("not reproducible: status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
	for _, args := range [][]string{{}, {"flow.yaml", "--sample", "2"}, {"flow.yaml", "--generate", "x"}, {"--generate", t.TempDir()}} {
		if r := b.larder(append([]string{"verify"}, args...)...); r.status != 2 {
			t.Errorf("verify %v: status %d: %s", args, r.status, r.stderr)
		}
	}
}

const pinnedPackage = `package pinned

import (
	"context"

	"github.com/larder-data/larder/lazy"
)

var twice = lazy.Func1("twice", func(_ context.Context, x int) (int, error) { return 2 * x, nil }, lazy.Options{Version: "1"})

// Root is pinned; Limit and twice are no lazy values.
var (
	Root  = twice(twice(lazy.Of(3)))
	Limit = 3
)
`

func TestGeneratedTest(t *testing.T) {
	testrand.Long(t)
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Skip("needs the go command: ", err)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	// The directory is within the module, so that its dependencies are found.
	dir, err := os.MkdirTemp(root, "pinned") //nolint:usetesting // it has to be in the module
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	write := func(content string) {
		if err := os.WriteFile(filepath.Join(dir, "pinned.go"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(pinnedPackage)
	if r := inProcess(t, t.TempDir(), "verify", "--generate", dir); r.status != 0 || !strings.Contains(r.stderr, "1 values pinned") {
		t.Fatalf("status %d: %s", r.status, r.stderr)
	}
	test := func() (string, error) {
		command := exec.CommandContext(t.Context(), goCommand, "test", "-count=1", ".")
		command.Dir = dir
		out, err := command.CombinedOutput()
		return string(out), err
	}
	if out, err := test(); err != nil {
		t.Errorf("the test that was written fails: %s", out)
	}
	write(strings.Replace(pinnedPackage, "return 2 * x", "return 3 * x", 1))
	if out, err := test(); err == nil || !strings.Contains(out, "Root: result ") {
		t.Errorf("another result: %v\n%s", err, out)
	}
	write(strings.Replace(pinnedPackage, `Version: "1"`, `Version: "2"`, 1))
	if out, err := test(); err == nil || !strings.Contains(out, "Root: key ") {
		t.Errorf("another key: %v\n%s", err, out)
	}
}

// TestLogsOfCommands checks that stderr of exec commands is stored by node and sample, and
// never where the flow reads.
func TestLogsOfCommands(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", twoMappers)
	b.write("size.sh", countBytes+`; echo "measured $(cat "$LARDER_OUT/size.txt")" >&2`)
	if r := b.larder("run", "flow.yaml", "--logs", "logs", "--dry-run"); r.status != 0 {
		t.Fatal(r.stderr)
	}
	if _, err := os.Stat(b.path("logs")); err == nil {
		t.Error("a dry run made the directory of logs")
	}
	if r := b.larder("run", "flow.yaml", "--logs", "logs"); r.status != 0 {
		t.Fatal(r.stderr)
	}
	logs := tree(t, b.path("logs"))
	if len(logs) != 26 || !strings.HasPrefix(logs[filepath.Join("sized", "000003.log")], "measured ") {
		t.Errorf("%d logs: %q", len(logs), logs)
	}
	for _, place := range []string{"data", "data/data"} {
		if r := b.larder("run", "flow.yaml", "--logs", place); r.status != 2 || !strings.Contains(r.stderr, "--logs") {
			t.Errorf("logs in %s: status %d: %s", place, r.status, r.stderr)
		}
	}
}
