package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/testing/testrand"
)

// program is the example as users have it: built, in its own directory.
type program struct {
	*testing.T
	dir string
}

func build(t *testing.T, flags ...string) program {
	t.Helper()
	p := program{t, t.TempDir()}
	args := append([]string{"build", "-o", filepath.Join(p.dir, "weather")}, append(flags, ".")...)
	if out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"flow.yaml", "july.txt"} {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		p.write(name, string(content))
	}
	return p
}

func (p program) write(name, content string) {
	p.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(content), 0o666); err != nil {
		p.Fatal(err)
	}
}

func (p program) read(name string) string {
	p.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		p.Fatal(err)
	}
	return string(b)
}

// weather runs the program, checks its status, and returns its output.
func (p program) weather(status int, args ...string) (stdout, stderr string) {
	p.Helper()
	c := exec.CommandContext(p.Context(), filepath.Join(p.dir, "weather"), args...)
	c.Dir = p.dir
	c.Env = append(os.Environ(), "LARDER_CACHE="+filepath.Join(p.dir, "cache"))
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	if got := c.ProcessState.ExitCode(); got != status {
		p.Fatalf("weather %q: status %d, want %d (%v)\n%s", args, got, status, err, &errs)
	}
	return out.String(), errs.String()
}

// both runs the flow and returns the report of the mapper's node.
func (p program) both() flow.NodeReport {
	p.Helper()
	out, _ := p.weather(0, "run", "flow.yaml", "--report", "-")
	var r flow.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		p.Fatal(err)
	}
	return r.Nodes[1]
}

func TestExtension(t *testing.T) {
	p := build(t)
	if n := p.both(); n.Computed != 10 || n.FromMemory == 0 {
		t.Errorf("%d converted, %d from memory; want 10, for two of the 11 days are as warm, and every second read", n.Computed, n.FromMemory)
	}
	lines := strings.Split(strings.TrimSpace(p.read("out/table.txt")), "\n")
	if len(lines) != 22 || lines[0] != "2024-07-01\t22.5 C\t72.50 F" || lines[1] != lines[0] || !strings.HasPrefix(lines[2], "2024-07-04\t") {
		t.Errorf("the table:\n%s", strings.Join(lines, "\n"))
	}
	if n := p.both(); n.Computed != 0 {
		t.Errorf("%d converted again", n.Computed)
	}
	p.write("july.txt", strings.Replace(p.read("july.txt"), "22.5 C", "-40 C", 1))
	if n := p.both(); n.Computed != 1 || !strings.HasPrefix(p.read("out/table.txt"), "2024-07-01\t-40 C\t-40.00 F\n") {
		t.Errorf("%d converted after one changed", n.Computed)
	}
}

func TestExtensionIsInEveryCommand(t *testing.T) {
	testrand.Long(t)
	p := build(t)
	p.weather(0, "op", "every", "--n", "10", "-i", "station:july.txt", "-o", "table:out/tens.txt")
	if got := p.read("out/tens.txt"); strings.Count(got, "\n") != 4 || !strings.Contains(got, "2024-07-11\t") {
		t.Errorf("every tenth day:\n%s", got)
	}
	p.weather(0, "map", "fahrenheit", "--digits", "0", "-i", "station:july.txt", "-o", "directory")
	if got := p.read("directory/data/00_reading.celsius") + ", " + p.read("directory/data/00_fahrenheit.txt"); got != "22.5 C, 72 F" {
		t.Errorf("the first day is %s", got)
	}
	p.weather(0, "lint", "flow.yaml", "--strict")
	for _, name := range []string{"station", "fahrenheit", "every", "table"} {
		if out, _ := p.weather(0, "components", name); !strings.Contains(out, name) {
			t.Errorf("components %s: %s", name, out)
		}
		if out, _ := p.weather(0, "schema"); !strings.Contains(out, `"const": "`+name+`"`) {
			t.Errorf("the schema does not know %s", name)
		}
	}
	for want, args := range map[string][]string{
		"n is 0 and must be at least 1":               {"op", "every", "--n", "0", "-i", "station:july.txt", "-o", "table:x.txt"},
		`there is no flag --dgits; did you mean "dig`: {"map", "fahrenheit", "--dgits", "1"},
	} {
		if _, stderr := p.weather(2, args...); !strings.Contains(stderr, want) {
			t.Errorf("weather %q says %s", args, stderr)
		}
	}
	p.write("july.txt", "2024-07-01 warm\n")
	if _, stderr := p.weather(1, "run", "flow.yaml"); !strings.Contains(stderr, `"warm" is not a temperature such as 21.5 C`) {
		t.Errorf("a reading that is none: %s", stderr)
	}
	p.write("july.txt", "2024-07-01 20 C\n")
	if _, stderr := p.weather(2, "op", "every", "--n", "1", "-i", "station:july.txt", "-o", "table:july.txt,overwrite=replace"); !strings.Contains(stderr, "an input is never overwritten") {
		t.Errorf("the sink onto the source: %s", stderr)
	}
}

// moving has an operator and a mapper that depend on the environment, and an operator that
// does not.
const moving = `package main

import (
	"context"
	"os"
	"strconv"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
)

type none struct{}

func init() {
	component.RegisterOp("some", "Passes on as many samples as $N says.", some)
	component.RegisterMapper("name", "Names an item as $NAME says.", name)
	component.RegisterOp("recorded", "Is some, by what Larder records.", recorded)
	component.RegisterOp("first", "Passes on a sample.", first)
}

func some(_ context.Context, _ *component.Env, _ none, in component.Samples) (component.Samples, error) {
	n, _ := strconv.Atoi(os.Getenv("N"))
	return dataset.Func(n, in.At), nil
}

func recorded(ctx context.Context, _ *component.Env, _ none, in component.Samples) (component.Samples, error) {
	n, _ := strconv.Atoi(larder.Getenv(ctx, "N"))
	return dataset.Func(n, in.At), nil
}

func name(*component.Env, none) (dataset.Mapper, error) {
	return dataset.MapperFunc(func(_ context.Context, s dataset.Sample) (dataset.Sample, error) {
		return s.Rename(map[string]string{"day": os.Getenv("NAME")})
	}), nil
}

func first(_ context.Context, _ *component.Env, _ none, in component.Samples) (component.Samples, error) {
	return dataset.Func(1, in.At), nil
}
`

// TestOperatorsOfOthers checks that a sink is reused if the code of all its nodes is known,
// also of external operators. It is written again if some of them may depend on more.
func TestOperatorsOfOthers(t *testing.T) {
	testrand.Long(t)
	dir := t.TempDir()
	here, err := filepath.Abs("moving.go")
	if err != nil {
		t.Fatal(err)
	}
	added := filepath.Join(dir, "moving.go")
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {here: added}})
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string]string{added: moving, filepath.Join(dir, "overlay.json"): string(overlay)} {
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	p := build(t, "-overlay", filepath.Join(dir, "overlay.json"))
	p.write("rows.jsonl", "{\"day\": 1}\n{\"day\": 2}\n")
	run := func(flow, n, name string) (out string, left bool) {
		t.Setenv("N", n)
		t.Setenv("NAME", name)
		p.write("moving.yaml", "version: 1\nnodes:\n  days: {source: jsonl, with: {path: rows.jsonl}}\n"+flow+
			"  out: {sink: jsonl, from: moved, with: {path: out.jsonl, overwrite: replace}}\n")
		_, stderr := p.weather(0, "run", "moving.yaml")
		return p.read("out.jsonl"), strings.Contains(stderr, "up to date")
	}
	for op, flow := range map[string]string{
		"some": "  moved: {op: some, from: days}\n", "recorded": "  moved: {op: recorded, from: days}\n", "name": "  moved: {map: name, from: days}\n",
		"within": "  moved: {op: map-if, from: days, with: {where: 'true', step: {map: name}}}\n",
	} {
		before, _ := run(flow, "1", "day")
		now, left := run(flow, "2", "when")
		if left || now == before {
			t.Errorf("%s: the sink has what another environment made:\n%s", op, now)
		}
	}
	before, _ := run("  moved: {op: first, from: days}\n", "", "")
	now, left := run("  moved: {op: first, from: days}\n", "", "")
	if !left || now != before || strings.Count(now, "\n") != 1 {
		t.Errorf("a sink whose operator is identified by its code was written again (%v):\n%s", left, now)
	}
}
