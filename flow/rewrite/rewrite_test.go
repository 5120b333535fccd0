package rewrite_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/flow/rewrite"
	"github.com/larder-data/larder/format/underfolder"
	_ "github.com/larder-data/larder/mapper"
	"github.com/larder-data/larder/op"
)

const text = `version: 1
nodes:
  in: {source: underfolder, with: {path: data}}
  mixed: {op: shuffle, from: in, with: {seed: 3}}
  flip: {op: map-if, from: mixed, with: {step: {map: compose, with: {steps: [{map: image-flip, with: {seed: 5, epoch: 1}}]}}, probability: 0.5}}
  run: {map: exec, from: flip, with: {command: [cp], items: [image], into: [x]}}
  out: {sink: underfolder, from: run, with: {path: deep/out, overwrite: replace}}
`

// edited returns the flow after an edit, as written.
func edited(t *testing.T, edit func(e *flow.Editor)) string {
	t.Helper()
	f, err := flow.Parse("flow.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	e := f.Edit()
	edit(e)
	g, err := e.Flow()
	if err != nil {
		t.Fatal(err)
	}
	b, err := g.YAML()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestEdits(t *testing.T) {
	for _, c := range []struct {
		name   string
		edit   func(e *flow.Editor)
		has    []string
		hasNot string
	}{
		{"no shuffle", rewrite.NoShuffle, []string{"mixed:\n    op: clone\n    from: in\n"}, "op: shuffle"},
		{"shuffle", func(e *flow.Editor) { rewrite.Shuffle(e, "in", 4) }, []string{"in-shuffled:\n    op: shuffle\n    from: in\n    with:\n      seed: 4\n", "mixed:\n    op: shuffle\n    from: in-shuffled\n"}, "epoch: 0"},
		{"shard", func(e *flow.Editor) { rewrite.Shard(e, "mixed", 1, 2) }, []string{"mixed-share:\n    op: shard\n    from: mixed\n    with:\n      rank: 1\n      world-size: 2\n", "from: mixed-share\n"}, "rest:"},
		{"reseed", func(e *flow.Editor) { rewrite.Reseed(e, 10) }, []string{"seed: 13\n", "seed: 15\n", "seed: 10\n"}, "seed: 3\n"},
		{"epoch", func(e *flow.Editor) { rewrite.Epoch(e, 2) }, []string{"epoch: 2\n"}, "epoch: 1\n"},
		{"workers", func(e *flow.Editor) { rewrite.Workers(e, "run", 2) }, []string{"workers: 2\n"}, "timeout"},
		{"time limit", func(e *flow.Editor) { rewrite.TimeLimit(e, "run", 90*time.Second) }, []string{"timeout: 1m30s\n"}, "workers"},
		{"trial", func(e *flow.Editor) { rewrite.Trial(e, 10, "trial") }, []string{"in-first:\n    op: slice\n    from: in\n    with:\n      stop: 10\n", "path: " + filepath.Join("trial", "out", "out")}, "deep"},
	} {
		got := edited(t, c.edit)
		for _, has := range c.has {
			if !strings.Contains(got, has) {
				t.Errorf("%s: no %q in\n%s", c.name, has, got)
			}
		}
		if strings.Contains(got, c.hasNot) {
			t.Errorf("%s: %q in\n%s", c.name, c.hasNot, got)
		}
	}
	if got := edited(t, func(*flow.Editor) {}); !strings.Contains(got, "seed: 5\n") || !strings.Contains(got, "seed: 3\n") {
		t.Errorf("edits before have changed the flow:\n%s", got)
	}
}

// TestTwice checks an edit of an edited flow, and of one variant of a sweep.
func TestTwice(t *testing.T) {
	const swept = "version: 1\nsweep: {w: [1, 2]}\nnodes:\n" +
		"  in: {source: underfolder, with: {path: \"data${w}\"}}\n  out: {sink: underfolder, from: in, with: {path: \"out${w}\"}}\n"
	f, err := flow.Parse("flow.yaml", []byte(swept), nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		e := f.Edit()
		rewrite.Trial(e, 3, "trial")
		rewrite.Shuffle(e, "in", 1)
		rewrite.Shard(e, "in@w=1", 0, 2)
		if f, err = e.Flow(); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"in-first@w=1", "in-first-2@w=2", "in-shuffled-2@w=1", "in-share-2@w=1"} {
		if _, err := f.Node(name); err != nil {
			t.Error(err)
		}
	}
}

// TestSeedsThatAreOfNoUse checks that parameters that a component refuses stay, and that
// all others change.
func TestSeedsThatAreOfNoUse(t *testing.T) {
	const parts = "version: 1\nnodes:\n  in: {source: underfolder, with: {path: data}}\n" +
		"  sized: {op: split, from: in, with: {sizes: {a: 0.5, b: 0.5}}}\n" +
		"  hashed: {op: split, from: sized.a, with: {sizes: {a: 0.5, b: 0.5}, hash: x}}\n"
	f, err := flow.Parse("flow.yaml", []byte(parts), nil)
	if err != nil {
		t.Fatal(err)
	}
	e := f.Edit()
	rewrite.Reseed(e, 7)
	g, err := e.Flow()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{0, 7} {
		if got := g.Nodes[i+1].Params.(op.Split).Seed; got != want {
			t.Errorf("the seed of %s is %d, want %d", g.Nodes[i+1].Name, got, want)
		}
	}
}

func TestEditsThatAreWrong(t *testing.T) {
	for want, edit := range map[string]func(e *flow.Editor){
		"node mixed: op shuffle has no timeout":  func(e *flow.Editor) { rewrite.TimeLimit(e, "mixed", time.Second) },
		`unknown node "ran"; did you mean "run"`: func(e *flow.Editor) { rewrite.Workers(e, "ran", 1) },
		"rank is 2 of 2":                         func(e *flow.Editor) { rewrite.Shard(e, "in", 2, 2) },
	} {
		f, err := flow.Parse("flow.yaml", []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		e := f.Edit()
		edit(e)
		if _, err := e.Flow(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestTrial checks that a trial writes few samples, and not to the outputs of the flow.
func TestTrial(t *testing.T) {
	dir := t.TempDir()
	data, err := filepath.Abs("../../examples/letters/data")
	if err != nil {
		t.Fatal(err)
	}
	b := flow.NewBuilder("letters", dir)
	letters := b.Add("letters", underfolder.Source{Path: component.Path(data)})
	b.Add("out", underfolder.Sink{Path: "out"}, b.Add("twice", op.Repeat{Times: 2}, letters))
	f, err := b.Flow()
	if err != nil {
		t.Fatal(err)
	}
	e := f.Edit()
	rewrite.Trial(e, 3, "trial")
	g, err := e.Flow()
	if err != nil {
		t.Fatal(err)
	}
	report, err := g.Run(t.Context(), flow.RunOptions{})
	if err != nil || report.Flow != "letters-trial" || report.Nodes[len(report.Nodes)-1].Samples != 6 {
		t.Errorf("%v: %+v", err, report)
	}
	if _, err := os.Stat(filepath.Join(dir, "out")); !os.IsNotExist(err) {
		t.Error("the trial wrote where the flow writes")
	}
	if _, err := os.Stat(filepath.Join(dir, "trial", "out", "out")); err != nil {
		t.Error(err)
	}
}
