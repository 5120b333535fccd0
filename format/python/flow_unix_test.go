//go:build unix

package python_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/format/python"
	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/store/memory"
	"github.com/larder-data/larder/stream"

	_ "github.com/larder-data/larder/format/jsonl"
	_ "github.com/larder-data/larder/mapper"
	_ "github.com/larder-data/larder/op"
)

// flowOf returns a flow of nodes in the directory.
func (p place) flowOf(nodes string) *flow.Flow {
	p.Helper()
	f, err := flow.Parse(filepath.Join(p.dir, "flow.yaml"), []byte("version: 1\nnodes:\n"+nodes), nil)
	if err != nil {
		p.Fatalf("%v\n%s", err, nodes)
	}
	return f
}

// run runs a flow that writes out.jsonl and whose node rows is a stream. It returns the
// number of elements from the function, and the lines.
func (p place) run(store *memory.Store, nodes string) (came int64, lines []string, err error) {
	p.Helper()
	l, err := larder.Open(larder.Options{Store: store})
	if err != nil {
		p.Fatal(err)
	}
	f := p.flowOf(nodes)
	if n, err := f.Node("rows"); err != nil || !f.IsStream(n) {
		p.Errorf("rows is not a stream: %v", err)
	}
	report, err := f.Run(p.Context(), flow.RunOptions{Larder: l})
	for _, n := range report.Nodes {
		if n.Name == "rows" {
			came = n.Samples
		}
	}
	b, rerr := os.ReadFile(filepath.Join(p.dir, "out.jsonl"))
	if rerr == nil {
		lines = strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	}
	return came, lines, err
}

const written = "  all: {op: materialise, from: rows}\n  out: {sink: jsonl, from: all, with: {path: out.jsonl, overwrite: replace}}\n"

// TestWhatIsMadeAgain checks that only edits of dependencies compute elements again.
func TestWhatIsMadeAgain(t *testing.T) {
	testrand.Long(t)
	const source = `
import larder
import helper
LIMIT = 3
def f(k, words: larder.File):
    text = open(words).read()
    for n in range(LIMIT):
        yield n * k, text + helper.g(n)
def other(k, words: larder.File):
    return [(k, open(words).read())]
`
	const nodes = "  rows: {source: python, with: {function: 'f:f', into: [n, t], args: {k: 5}, files: {words: words}}}\n" + written
	p := newPlace(t, source)
	p.write("helper.py", "def g(n):\n    return str(n)\n")
	p.write("words", "w")
	store := memory.New(memory.Options{})
	for _, c := range []struct {
		name     string
		edit     func()
		old, new string // of the flow
		came     int64
		last     string
	}{
		{"the first time", nil, "", "", 3, `{"n":10,"t":"w2"}`},
		{"again", nil, "", "", 0, `{"n":10,"t":"w2"}`},
		{"a comment", func() { p.write("f.py", "# said\n"+source) }, "", "", 0, `{"n":10,"t":"w2"}`},
		{"a constant", func() { p.write("f.py", strings.Replace(source, "LIMIT = 3", "LIMIT = 4", 1)) }, "", "", 4, `{"n":15,"t":"w3"}`},
		{"the body", func() { p.write("f.py", strings.Replace(source, "n * k", "n + k", 1)) }, "", "", 3, `{"n":7,"t":"w2"}`},
		{"back", func() { p.write("f.py", source) }, "", "", 0, `{"n":10,"t":"w2"}`},
		{"the helper", func() { p.write("helper.py", "def g(n):\n    return '+'\n") }, "", "", 3, `{"n":10,"t":"w+"}`},
		{"an argument", nil, "k: 5", "k: 6", 3, `{"n":12,"t":"w+"}`},
		{"a file", func() { p.write("words", "v") }, "", "", 3, `{"n":10,"t":"v+"}`},
		{"the name of the file", func() { p.write("else", "v") }, "words: words", "words: else", 0, `{"n":10,"t":"v+"}`},
		{"names of items", nil, "[n, t]", "[n, u]", 3, `{"n":10,"u":"v+"}`},
		{"bounds", nil, "into:", "timeout: 1h, max-bytes: 1000, into:", 0, `{"n":10,"t":"v+"}`},
		{"another function", nil, "f:f", "f:other", 1, `{"n":5,"t":"v"}`},
	} {
		if c.edit != nil {
			c.edit()
		}
		came, lines, err := p.run(store, strings.Replace(nodes, c.old, c.new, 1))
		if err != nil || came != c.came || len(lines) == 0 || lines[len(lines)-1] != c.last {
			t.Errorf("%s: %d came, want %d; %q: %v", c.name, came, c.came, lines, err)
		}
	}
}

// TestNothingIsStartedForWhatIsCached checks that cached elements need no call of the
// function, and no Python if a version represents its code.
func TestNothingIsStartedForWhatIsCached(t *testing.T) {
	p := newPlace(t, noting+"note('imported')\ndef f():\n    note('begun')\n    yield from map(str, range(10))\n")
	nodes := "  rows: {source: python, with: {function: 'f:f', into: [n], version: '1'}}\n" + written
	store := memory.New(memory.Options{})
	if came, _, err := p.run(store, nodes); err != nil || came != 10 || p.noted("begun") != 1 || p.noted("imported") != 1 {
		t.Fatalf("%d came: %v", came, err)
	}
	t.Setenv("LARDER_PYTHON", filepath.Join(p.dir, "no-python"))
	if came, lines, err := p.run(store, nodes); err != nil || came != 0 || len(lines) != 10 || p.noted("begun")+p.noted("imported") != 0 {
		t.Errorf("%d came, %d lines: %v", came, len(lines), err)
	}
	if _, _, err := p.run(store, strings.Replace(nodes, "'1'", "'2'", 1)); err == nil || !strings.Contains(err.Error(), "cannot be run") {
		t.Errorf("another version: %v", err)
	}
}

// TestInterruptedGeneratorGoesOn checks that the next run skips elements stored before a
// worker was killed, and that the dataset is complete or missing.
func TestInterruptedGeneratorGoesOn(t *testing.T) {
	p := newPlace(t, noting+`
def f():
    note("begun")
    for n in range(3000):
        if n == 2500 and os.path.exists(os.path.join(os.path.dirname(__file__), "die")):
            os.kill(os.getpid(), signal.SIGKILL)
        note("made")
        yield str(n)
`)
	nodes := "  rows: {source: python, with: {function: 'f:f', into: [n], version: '1'}}\n" + written
	store := memory.New(memory.Options{})
	p.write("die", "")
	if came, lines, err := p.run(store, nodes); err == nil || came != 2500 || len(lines) != 0 || !strings.Contains(err.Error(), "element 2500: f:f: the worker ended: signal: killed") {
		t.Fatalf("%d came, %d lines: %v", came, len(lines), err)
	}
	if begun, made := p.noted("begun"), p.noted("made"); begun != 1 || made != 2500 {
		t.Errorf("%d begun, %d made", begun, made)
	}
	if err := os.Remove(filepath.Join(p.dir, "die")); err != nil {
		t.Fatal(err)
	}
	came, lines, err := p.run(store, nodes)
	if err != nil || came != 3000-2048 || p.noted("begun") != 1 || p.noted("made") != 3000 {
		t.Errorf("%d came: %v", came, err)
	}
	for i, line := range lines {
		if line != fmt.Sprintf(`{"n":"%d"}`, i) || len(lines) != 3000 {
			t.Fatalf("line %d of %d is %s", i, len(lines), line)
		}
	}
}

// TestOperatorsOnGenerators checks that operators on streams accept generators, and that an
// endless one is closed after its part is read.
func TestOperatorsOnGenerators(t *testing.T) {
	p := newPlace(t, noting+`
def f(k):
    try:
        n = 0
        while True:
            yield {"n": n * k, "t": str(n)}
            n += 1
    finally:
        note("closed")
`)
	const rows = "  rows: {source: python, with: {function: 'f:f', into: [n, t], args: {k: 2}, version: '1'}}\n"
	const rest = "  out: {sink: jsonl, from: all, with: {path: out.jsonl, overwrite: replace}}\n"
	for _, c := range []struct {
		nodes string
		want  string
		any   bool // in any order
	}{
		{"  some: {op: slice, from: rows, with: {start: 1, stop: 8, step: 3}}\n  all: {op: materialise, from: some}\n", "2 8 14", false},
		{"  some: {op: slice, from: rows, with: {stop: 4}}\n  mixed: {op: shuffle, from: some, with: {buffer: 3, seed: 1}}\n  all: {op: materialise, from: mixed}\n", "0 2 4 6", true},
		{"  few: {op: filter, from: rows, with: {where: 'n % 4 == 0'}}\n  more: {map: compute, from: few, with: {set: {n: 'n + 1'}}}\n  some: {op: slice, from: more, with: {stop: 3}}\n  all: {op: materialise, from: some}\n", "1 5 9", false},
		{"  some: {op: slice, from: rows, with: {stop: 6}}\n  mine: {op: shard, from: some, with: {rank: 1, world-size: 2}}\n  all: {op: materialise, from: mine}\n", "2 6 10", false},
		{"  some: {op: slice, from: rows, with: {stop: 4}}\n  all: {op: materialise, from: some}\n  parts: {op: batch, from: all, with: {size: 2}}\n  back: {op: cat, from: parts}\n", "0 2 4 6", false},
	} {
		sink := rest
		if strings.Contains(c.nodes, "back:") {
			sink = strings.Replace(rest, "from: all", "from: back", 1)
		}
		_, lines, err := p.run(memory.New(memory.Options{}), rows+c.nodes+sink)
		if err != nil || p.noted("closed") != 1 {
			t.Errorf("%s: it is not closed, or fails: %v", c.nodes, err)
		}
		var got []string
		for _, line := range lines {
			n, _, _ := strings.Cut(strings.TrimPrefix(line, `{"n":`), ",")
			got = append(got, n)
		}
		if c.any {
			slices.Sort(got)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %s", c.nodes, got, c.want)
		}
	}
}

// TestEditsWhileItRuns checks that a run ends with the code it began with, or with an
// error.
func TestEditsWhileItRuns(t *testing.T) {
	p := newPlace(t, noting+`
def f(words):
    for n in range(100):
        if n == 50:
            note("words", "more")
        yield n
def plain():
    yield 1
`)
	p.write("words", "w")
	_, err := p.texts(python.Source{Function: "f:f", Files: map[string]component.Path{"words": "words"}, Version: "1"})
	if !errors.Is(err, dataset.ErrChanged) || !strings.Contains(err.Error(), "words") {
		t.Errorf("a file that is edited: %v", err)
	}
	s := p.stream(python.Source{Function: "f:plain"})
	if all, err := stream.Collect(t.Context(), s); err != nil || len(all) != 1 {
		t.Fatalf("%d elements, %v", len(all), err)
	}
	p.write("f.py", "def plain():\n    yield 2\n")
	if _, err := stream.Collect(t.Context(), s); !errors.Is(err, dataset.ErrChanged) {
		t.Errorf("a function that is edited: %v", err)
	}
}
