package flow_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/store/memory"

	_ "github.com/larder-data/larder/format/jsonl"
)

// lines is a flow over a file of JSON lines in a directory.
type lines struct {
	t     *testing.T
	dir   string
	nodes string
	file  string // of the flow
	store *memory.Store
}

const cachedHashes = `
  in: {source: jsonl, with: {path: in.jsonl}}
  few: {op: slice, from: in, with: {stop: 10}}
  hashed: {map: hash, from: few, keep: true, with: {items: [text], into: h}}
  out: {sink: jsonl, from: hashed, with: {path: out.jsonl, overwrite: replace}}
`

func newLines(t *testing.T, nodes string, n int) *lines {
	l := &lines{t: t, dir: t.TempDir(), nodes: nodes, file: "flow.yaml", store: memory.New(memory.Options{})}
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{\"text\": \"line %03d\"}\n", i)
	}
	l.write("in.jsonl", b.String())
	return l
}

func (l *lines) path(name string) string { return filepath.Join(l.dir, name) }

func (l *lines) write(name, text string) {
	l.t.Helper()
	if err := os.WriteFile(l.path(name), []byte(text), 0o666); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lines) read(name string) string {
	l.t.Helper()
	b, err := os.ReadFile(l.path(name))
	if err != nil {
		l.t.Fatal(err)
	}
	return string(b)
}

func (l *lines) runIn(o flow.RunOptions) *flow.Report {
	l.t.Helper()
	f, err := flow.Parse(l.path(l.file), []byte("version: 1\nnodes:\n"+l.nodes), nil)
	if err != nil {
		l.t.Fatal(err)
	}
	r, err := f.Run(l.t.Context(), o)
	if err != nil {
		l.t.Fatal(err)
	}
	return r
}

func (l *lines) run() *flow.Report { return l.runIn(flow.RunOptions{Larder: newLarder(l.t, l.store)}) }

// edit changes a line of a file and restores its length and times.
func (l *lines) edit(name string) {
	l.t.Helper()
	info, err := os.Stat(l.path(name))
	if err != nil {
		l.t.Fatal(err)
	}
	l.write(name, strings.Replace(l.read(name), "line 003", "LINE 003", 1))
	if err := os.Chtimes(l.path(name), info.ModTime(), info.ModTime()); err != nil {
		l.t.Fatal(err)
	}
}

// TestUnchangedSinksAreLeft checks that a sink with unchanged inputs and output is left
// alone, and that the report says what is reused.
func TestUnchangedSinksAreLeft(t *testing.T) {
	l := newLines(t, cachedHashes, 10)
	first := l.run()
	if node(t, first, "out").Unchanged {
		t.Error("the first run writes nothing")
	}
	before, err := os.Stat(l.path("out.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		second := l.run()
		for _, n := range second.Nodes {
			if !n.Unchanged || n.Samples != 10 || n.Computed != 0 || n.FromMemory != 0 {
				t.Errorf("second run: %+v", n)
			}
		}
		if n := node(t, second, "hashed"); n.FromStore != 10 || n.SecondsSaved <= 0 {
			t.Errorf("second run: %+v", n)
		}
	}
	if after, err := os.Stat(l.path("out.jsonl")); err != nil || !os.SameFile(before, after) {
		t.Errorf("the output was written again (%v)", err)
	}
}

// TestTouchedSinksAreWritten checks that after any change the output is that of an empty
// cache.
func TestTouchedSinksAreWritten(t *testing.T) {
	for name, touch := range map[string]func(l *lines){
		"a line of the input":  func(l *lines) { l.edit("in.jsonl") },
		"a line more":          func(l *lines) { l.write("in.jsonl", l.read("in.jsonl")+"{\"text\": \"more\"}\n") },
		"a line of the output": func(l *lines) { l.edit("out.jsonl") },
		"the output removed":   func(l *lines) { _ = os.Remove(l.path("out.jsonl")) },
		"another input in its place": func(l *lines) {
			l.write("new", "{\"text\": \"new\"}\n")
			_ = os.Rename(l.path("new"), l.path("in.jsonl"))
		},
		"a link in place of the input": func(l *lines) {
			l.write("new", "{\"text\": \"new\"}\n")
			_ = os.Remove(l.path("in.jsonl"))
			_ = os.Symlink("new", l.path("in.jsonl"))
		},
		"a link in place of the output": func(l *lines) {
			_ = os.Rename(l.path("out.jsonl"), l.path("o"))
			_ = os.Symlink("o", l.path("out.jsonl"))
			l.edit("o")
		},
		"a parameter of a mapper": func(l *lines) { l.nodes = strings.Replace(l.nodes, "into: h", "into: h, algorithm: md5", 1) },
		"a parameter of the sink": func(l *lines) {
			l.nodes = strings.Replace(l.nodes, "items: [text], into: h", "items: [text], into: record", 1)
			l.nodes = strings.Replace(l.nodes, "from: hashed", "from: only", 1) + "  only: {map: keep-keys, from: hashed, with: {keys: [record]}}\n"
		},
		"a parameter of an operator": func(l *lines) { l.nodes = strings.Replace(l.nodes, "stop: 10", "stop: 9", 1) },
		"another node between": func(l *lines) {
			l.nodes = strings.Replace(l.nodes, "from: hashed", "from: last", 1) + "  last: {op: slice, from: hashed, with: {start: 3}}\n"
		},
		"a mapper that is not cached": func(l *lines) { l.nodes = strings.Replace(l.nodes, "keep: true, ", "", 1) },
		"the cache":                   func(l *lines) { l.store = memory.New(memory.Options{}) },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLines(t, cachedHashes, 10)
			l.run()
			if r := l.run(); !node(t, r, "out").Unchanged {
				t.Fatal("the second run writes the output again")
			}
			touch(l)
			if r := l.run(); node(t, r, "out").Unchanged {
				t.Error("the output was left as it is")
			}
			got := l.read("out.jsonl")
			l.store = memory.New(memory.Options{})
			if l.run(); got != l.read("out.jsonl") {
				t.Errorf("what was written is not what an empty cache gives: %s", got)
			}
		})
	}
}

// TestWhatIsNotToBeLeft checks that samples are read where results are not cached or
// checked, or samples are requested.
func TestWhatIsNotToBeLeft(t *testing.T) {
	notCached := strings.Replace(cachedHashes, "keep: true, ", "", 1)
	for name, c := range map[string]struct {
		nodes   string
		options flow.RunOptions
		larder  larder.Options
	}{
		"a mapper that is not cached":      {nodes: notCached},
		"hits that are verified":           {nodes: cachedHashes, larder: larder.Options{Verify: larder.Verification{Sample: 0.5}}},
		"orders that are recorded":         {nodes: cachedHashes, options: flow.RunOptions{Trace: func(string) func([]byte) { return func([]byte) {} }}},
		"checkpoints that are discarded":   {nodes: cachedHashes, options: flow.RunOptions{Discard: true}},
		"an output that must not be there": {nodes: strings.Replace(cachedHashes, "path: out.jsonl, overwrite: replace", "path: out.jsonl", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLines(t, c.nodes, 3)
			for i := range 3 {
				if strings.Contains(name, "must not be") {
					_ = os.Remove(l.path("out.jsonl"))
				}
				c.larder.Store = l.store
				opened, err := larder.Open(c.larder)
				if err != nil {
					t.Fatal(err)
				}
				c.options.Larder = opened
				if r := l.runIn(c.options); node(t, r, "out").Unchanged {
					t.Errorf("run %d left the output as it is", i+1)
				}
			}
		})
	}
}

// TestOneOfSeveralSinksIsWritten checks that only the sinks that need it are written, and
// only their inputs are read.
func TestOneOfSeveralSinksIsWritten(t *testing.T) {
	l := newLines(t, cachedHashes+"  other: {sink: jsonl, from: hashed, with: {path: other.jsonl, overwrite: replace}}\n", 10)
	l.run()
	l.edit("other.jsonl")
	r := l.run()
	if !node(t, r, "out").Unchanged || node(t, r, "other").Unchanged || node(t, r, "hashed").Unchanged {
		t.Errorf("%+v", r.Nodes)
	}
	if n := node(t, r, "hashed"); n.Samples != 10 || n.Computed != 0 {
		t.Errorf("hashed: %+v", n)
	}
	if l.read("other.jsonl") != l.read("out.jsonl") {
		t.Error("the other output is not what it should be")
	}
}

// TestDryRunOfUnchangedSinks checks that the dry run predicts the run.
func TestDryRunOfUnchangedSinks(t *testing.T) {
	l := newLines(t, cachedHashes, 10)
	l.run()
	for _, n := range l.plan().Nodes {
		if n.Compute != 0 || n.Samples != 10 || n.Name == "hashed" && n.Cached != 10 {
			t.Errorf("%+v", n)
		}
	}
	l.edit("in.jsonl")
	for _, n := range l.plan().Nodes {
		if n.Name == "hashed" && n.Compute != 1 {
			t.Errorf("%+v", n)
		}
	}
}

func (l *lines) plan() *flow.Plan {
	l.t.Helper()
	f, err := flow.Parse(l.path(l.file), []byte("version: 1\nnodes:\n"+l.nodes), nil)
	if err != nil {
		l.t.Fatal(err)
	}
	p, err := f.Plan(l.t.Context(), flow.RunOptions{Larder: newLarder(l.t, l.store)})
	if err != nil {
		l.t.Fatal(err)
	}
	return p
}

// TestOutputsTouchedBeforeTheEndAreWritten checks that the next run notices a change to an
// output during a run.
func TestOutputsTouchedBeforeTheEndAreWritten(t *testing.T) {
	l := newLines(t, cachedHashes, 10)
	l.runIn(flow.During(flow.RunOptions{Larder: newLarder(t, l.store)}, func(e flow.Event) {
		if e.Event == flow.NodeDone && e.Node == "out" {
			l.edit("out.jsonl")
		}
	}))
	if r := l.run(); node(t, r, "out").Unchanged {
		t.Error("the output was left as it is")
	}
	if strings.Contains(l.read("out.jsonl"), "LINE") {
		t.Error("the edit is still there")
	}
}

const commands = `
  in: {source: jsonl, with: {path: in.jsonl}}
  made: {map: exec, from: in, keep: true, with: {command: [sh, script], items: [text], into: [made], code: [script]}}
  out: {sink: jsonl, from: made, with: {path: out.jsonl, overwrite: replace}}
`

// TestCodeOfCommandsCounts checks that the files of a command count, also if one is
// replaced for a moment.
func TestCodeOfCommandsCounts(t *testing.T) {
	l := newLines(t, commands, 2)
	const one, two = "printf '\"line 003\"' >$LARDER_OUT/made.json\n", "printf '\"LINE 003\"' >$LARDER_OUT/made.json\n"
	l.write("script", one)
	l.run()
	if r := l.run(); !node(t, r, "out").Unchanged {
		t.Fatal("the second run writes the output again")
	}
	l.edit("script")
	if r := l.run(); node(t, r, "out").Unchanged || !strings.Contains(l.read("out.jsonl"), "LINE") {
		t.Error("the edit of the script was not seen")
	}

	l = newLines(t, commands, 2)
	l.write("script", one)
	l.runIn(flow.During(flow.RunOptions{Larder: newLarder(t, l.store)}, func(e flow.Event) {
		if e.Event == flow.NodeStarted && e.Node == "in" {
			l.write("script", two)
		}
	}))
	if !strings.Contains(l.read("out.jsonl"), "LINE") {
		t.Fatal("the script was read before the test changed it; change it earlier")
	}
	l.write("script", one)
	if r := l.run(); node(t, r, "out").Unchanged || strings.Contains(l.read("out.jsonl"), "LINE") {
		t.Error("what another script made is left")
	}
}
