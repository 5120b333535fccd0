package lint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/flow/lint"

	_ "github.com/larder-data/larder/format/jsonl"
	_ "github.com/larder-data/larder/format/numpy"
	_ "github.com/larder-data/larder/format/underfolder"
	_ "github.com/larder-data/larder/mapper"
	_ "github.com/larder-data/larder/op"
)

// letters is a source of 26 samples, with an image and a document metadata in each.
const letters = "version: 1\nvars: {epoch: 0}\nnodes:\n  in: {source: underfolder, with: {path: ../../examples/letters/data}}\n"

// check lints a flow of the letters and the given nodes.
func check(t *testing.T, nodes string) []lint.Warning {
	t.Helper()
	f, err := flow.Parse("flow.yaml", []byte(letters+nodes), nil)
	if err != nil {
		t.Fatal(err)
	}
	return lint.Check(t.Context(), f, lint.Options{Sources: true})
}

// A trial is a flow with its findings, "RULE NODE" each. near says why a flow without
// findings is right.
type trial struct{ near, nodes, finds string }

func TestRules(t *testing.T) {
	fires := map[string]bool{}
	for _, c := range slices.Concat(orders, draws, bounds, results) {
		var found []string
		for _, w := range check(t, c.nodes) {
			if w.Rule == "fixed-draw" && !strings.Contains(c.finds, w.Rule) {
				continue // most flows here have no epoch: see TestFixedDraws
			}
			found = append(found, w.Rule+" "+w.Node)
			fires[w.Rule] = true
			if w.At.File != "flow.yaml" || w.At.Line < 4 || w.At.Column != 3 || w.What == "" || w.Fix == "" {
				t.Errorf("incomplete: %+v", w)
			}
		}
		if got := strings.Join(found, ", "); got != c.finds {
			t.Errorf("%s%s\nfound %q, want %q", c.near, c.nodes, got, c.finds)
		}
	}
	for _, r := range lint.Rules() {
		if !fires[r.Name] && r.Name != "fixed-draw" {
			t.Errorf("nothing made %s fire", r.Name)
		}
	}
}

const (
	mine  = "  mine: {op: shard, from: in, with: {rank: 0, world-size: 2}}\n"
	other = "  other: {op: shard, from: in, with: {rank: 1, world-size: 2}}\n"
)

var orders = []trial{
	{"", mine + "  mixed: {op: shuffle, from: mine}\n", "shard-before-shuffle mixed"},
	{"", mine + "  small: {map: image-resize, from: mine, with: {width: 8}}\n  mixed: {op: shuffle, from: small}\n", "shard-before-shuffle mixed"},
	{"the order is drawn before", "  mixed: {op: shuffle, from: in}\n  mine: {op: shard, from: mixed, with: {rank: 0, world-size: 2}}\n", ""},
	{"they were shuffled before, too", "  all: {op: shuffle, from: in}\n  mine: {op: shard, from: all, with: {rank: 0, world-size: 2}}\n  mixed: {op: shuffle, from: mine}\n", ""},
	{"shares are joined again", mine + other + "  both: {op: cat, from: [mine, other]}\n  mixed: {op: shuffle, from: both}\n", ""},
	{"there is one process", "  mine: {op: shard, from: in, with: {rank: 0, world-size: 1}}\n  mixed: {op: shuffle, from: mine}\n", ""},

	{"", mine + "  less: {op: shard, from: mine, with: {rank: 0, world-size: 3}}\n", "double-shard less"},
	{"two shares of the same", mine + other, ""},
	{"a part of joined shares", mine + other + "  both: {op: cat, from: [mine, other]}\n  less: {op: shard, from: both, with: {rank: 0, world-size: 3}}\n", ""},

	{"", "  parts: {op: batch, from: in, with: {size: 4}}\n  mixed: {op: shuffle, from: parts}\n", "shuffle-after-batch mixed"},
	{"one batch is read", "  parts: {op: batch, from: in, with: {size: 4}}\n  mixed: {op: shuffle, from: parts.0}\n", ""},
	{"batches are joined again", "  parts: {op: batch, from: in, with: {size: 4}}\n  all: {op: cat, from: parts}\n  mixed: {op: shuffle, from: all}\n", ""},
	{"parts are shuffled, not batches", "  parts: {op: split, from: in, with: {sizes: {a: 0.5, b: 0.5}}}\n  mixed: {op: shuffle, from: parts}\n", ""},
	{"it is shuffled before", "  mixed: {op: shuffle, from: in}\n  parts: {op: batch, from: mixed, with: {size: 4}}\n", ""},

	{"", "  many: {op: repeat, from: in, with: {times: 2}}\n  mixed: {op: shuffle, from: many}\n", "repeat-before-shuffle mixed"},
	{"", "  many: {op: cycle, from: in, with: {n: 30}}\n  mixed: {op: shuffle, from: many}\n", "repeat-before-shuffle mixed"},
	{"fewer than there are", "  few: {op: cycle, from: in, with: {n: 20}}\n  mixed: {op: shuffle, from: few}\n", ""},
	{"less than a pass", "  few: {op: repeat, from: in, with: {times: 0.5}}\n  mixed: {op: shuffle, from: few}\n", ""},
	{"passes follow one another", "  mixed: {op: shuffle, from: in}\n  many: {op: repeat, from: mixed, with: {times: 2}}\n", ""},
	{"copies differ", "  many: {op: repeat, from: in, with: {times: 2}}\n  flip: {map: image-flip, from: many}\n  mixed: {op: shuffle, from: flip}\n", ""},
}

var draws = []trial{
	{"", "  flip: {map: image-flip, from: in, keep: true}\n", "random-before-keep flip"},
	{"", "  flip: {map: image-flip, from: in}\n  small: {map: image-resize, from: flip, with: {width: 8}, keep: true}\n", "random-before-keep flip"},
	{"", "  flip: {map: image-flip, from: in}\n  mixed: {op: shuffle, from: flip, checkpoint: true}\n", "random-before-keep flip"},
	{"", "  both: {map: compose, from: in, with: {steps: [{map: image-flip}, {map: image-resize, with: {width: 8}}]}, keep: true}\n", "random-before-keep both"},
	{"", "  some: {op: map-if, from: in, with: {probability: 0.5, step: {map: image-resize, with: {width: 8}}}, keep: true}\n", "random-before-keep some"},
	{"the loader has it draw again", "  flip: {map: image-flip, from: in, with: {epoch: \"${epoch}\"}, keep: true}\n", ""},
	{"the loader has a step draw again", "  both: {map: compose, from: in, with: {steps: [{map: image-flip, with: {epoch: \"${epoch}\"}}]}, keep: true}\n", ""},
	{"it is not cached", "  flip: {map: image-flip, from: in}\n", ""},
	{"it is certain", "  flip: {map: image-flip, from: in, with: {horizontal: 1}, keep: true}\n", ""},
	{"what is cached comes before", "  small: {map: image-resize, from: in, with: {width: 8}, keep: true}\n  flip: {map: image-flip, from: small}\n", ""},
	{"what is cached is computed from something else", "  flip: {map: image-flip, from: in}\n  hash: {map: hash, from: flip, with: {items: [metadata], into: h}, keep: true}\n", ""},
	{"it is written once", "  flip: {map: image-flip, from: in, keep: true}\n  out: {sink: underfolder, from: flip, with: {path: out}}\n", ""},
	{"variants are computed from each", "  many: {op: repeat, from: in, with: {times: 9}}\n  flip: {map: image-flip, from: many, keep: true}\n", ""},
}

const exec = "command: [cp], items: [image], into: [x], batch: 8"

var bounds = []trial{
	{"", "  small: {map: image-resize, from: in, with: {width: 8}, cache: {policy: lru, size: 4}}\n  parts: {op: batch, from: small, with: {size: 5}}\n", "cache-too-small small"},
	{"", "  small: {map: image-resize, from: in, with: {width: 8}, cache: {policy: lru, size: 4}}\n  mine: {op: shard, from: small, with: {rank: 0, world-size: 2}}\n", "cache-too-small small"},
	{"", "  run: {map: exec, from: in, with: {" + exec + "}, cache: {policy: fifo, size: 4}}\n", "cache-too-small run"},
	{"", "  flip: {map: image-flip, from: in, keep: true, cache: {policy: lru, size: 10}}\n  many: {op: repeat, from: flip, with: {times: 2}}\n  mine: {op: shard, from: flip, with: {rank: 0, world-size: 2}}\n  less: {op: shard, from: mine, with: {rank: 0, world-size: 2}}\n", "random-before-keep flip, cache-too-small flip, double-shard less"},
	{"a batch fits", "  small: {map: image-resize, from: in, with: {width: 8}, cache: {policy: lru, size: 5}}\n  parts: {op: batch, from: small, with: {size: 5}}\n", ""},
	{"a share fits", "  small: {map: image-resize, from: in, with: {width: 8}, cache: {policy: lru, size: 13}}\n  mine: {op: shard, from: small, with: {rank: 0, world-size: 2}}\n", ""},
	{"a part is held", "  small: {map: image-resize, from: in, with: {width: 8}, cache: {policy: hold, size: 4}}\n  mine: {op: shard, from: small, with: {rank: 0, world-size: 2}}\n", ""},
	{"another cache is between", "  a: {map: image-resize, from: in, with: {width: 8}, cache: {policy: lru, size: 4}}\n  b: {map: image-stats, from: a, cache: {policy: lru, size: 13}}\n  mine: {op: shard, from: b, with: {rank: 0, world-size: 2}}\n", ""},
	{"there are no more samples", "  few: {op: slice, from: in, with: {stop: 4}}\n  run: {map: exec, from: few, with: {" + exec + "}, cache: {policy: lru, size: 4}}\n", ""},

	{"", "  small: {map: image-resize, from: in, with: {width: 8}, cache: {policy: lru, size: 27}}\n", "buffer-too-large small"},
	{"", "  few: {op: filter, from: in, with: {where: 'metadata.letter == \"a\"'}}\n  small: {map: image-resize, from: few, with: {width: 8}, cache: {policy: lru, size: 27}}\n", "buffer-too-large small"},
	{"", "  parts: {op: batch, from: in, with: {size: 27}}\n", "buffer-too-large parts"},
	{"", "  parts: {op: chunk, from: in, with: {n: 27}}\n", "buffer-too-large parts"},
	{"all fit exactly", "  small: {map: image-resize, from: in, with: {width: 8}, cache: {policy: lru, size: 26}}\n  parts: {op: batch, from: in, with: {size: 26}}\n", ""},
	{"there are more by then", "  many: {op: repeat, from: in, with: {times: 2}}\n  small: {map: image-resize, from: many, with: {width: 8}, cache: {policy: lru, size: 27}}\n", ""},
	{"the source is not there", "  none: {source: underfolder, with: {path: none}}\n  small: {map: image-resize, from: none, with: {width: 8}, cache: {policy: lru, size: 27}}\n", ""},
}

const out = "  out: {sink: underfolder, from: last, with: {path: out}}\n"

var results = []trial{
	{"", "  stats: {map: image-stats, from: in}\n  last: {map: keep-keys, from: stats, with: {keys: [image]}}\n" + out, "unused-result stats"},
	{"", "  stats: {map: image-stats, from: in}\n  re: {map: rename, from: stats, with: {names: {stats: s}}}\n  last: {map: drop-keys, from: re, with: {keys: [s]}}\n" + out, "unused-result stats"},
	{"", "  set: {map: set-value, from: in, with: {key: b, value: 3}}\n  last: {map: drop-keys, from: set, with: {keys: [b]}}\n" + out, "unused-result set"},
	{"", "  set: {map: set-value, from: in, with: {key: b.x, value: 3}}\n  last: {map: drop-keys, from: set, with: {keys: [b]}}\n" + out, ""},
	{"", "  set: {map: compute, from: in, with: {set: {b: metadata.a + 1}}}\n  last: {map: set-value, from: set, with: {key: b, value: 3}}\n" + out, "unused-result set"},
	{"", "  set: {map: compute, from: in, with: {set: {b: metadata.a + 1}}}\n  last: {map: compute, from: set, with: {set: {b: b + 1}}}\n" + out, ""},
	{"", "  stats: {map: image-stats, from: in}\n  last: {map: hash, from: stats, with: {items: [metadata], into: stats}}\n" + out, "unused-result stats"},
	{"the sink writes it", "  last: {map: image-stats, from: in}\n" + out, ""},
	{"anybody may open the node", "  stats: {map: image-stats, from: in}\n", ""},
	{"a filter reads it", "  stats: {map: image-stats, from: in}\n  wide: {op: filter, from: stats, with: {where: stats.width > 3}}\n  last: {map: keep-keys, from: wide, with: {keys: [image]}}\n" + out, ""},
	{"one branch keeps it", "  stats: {map: image-stats, from: in}\n  last: {map: keep-keys, from: stats, with: {keys: [image]}}\n" + out + "  more: {sink: underfolder, from: stats, with: {path: more}}\n", ""},
	{"a mapper makes it of itself", "  flip: {map: image-flip, from: in}\n  last: {map: image-resize, from: flip, with: {width: 8}}\n" + out, ""},
	{"it is read under another name", "  stats: {map: image-stats, from: in}\n  re: {map: rename, from: stats, with: {names: {stats: s}}}\n  h: {map: hash, from: re, with: {items: [s], into: h}}\n  last: {map: drop-keys, from: h, with: {keys: [s]}}\n" + out, ""},

	{"", branches("in", ""), "repeated-decode b"},
	{"", "  mixed: {op: shuffle, from: in}\n" + branches("mixed", ""), "repeated-decode b"},
	{"a cache keeps the images", "  i: {source: underfolder, with: {path: ../../examples/letters/data}, cache: {policy: auto}}\n" + branches("i", ""), ""},
	{"one of them is cached", branches("in", ", keep: true"), ""},
	{"one sample is decoded once", "  a: {map: image-stats, from: in}\n  last: {map: image-resize, from: a, with: {width: 8}}\n" + out, ""},
	{"they are other samples", "  parts: {op: split, from: in, with: {sizes: {a: 0.5, b: 0.5}}}\n  a: {map: image-resize, from: parts.a, with: {width: 8}}\n  b: {map: image-resize, from: parts.b, with: {width: 9}}\n" + sinks, ""},
	{"they may be other samples", "  v: {op: filter, from: in, with: {where: 'metadata.letter == \"a\"'}}\n  w: {op: filter, from: in, with: {where: 'metadata.letter != \"a\"'}}\n  a: {map: image-resize, from: v, with: {width: 8}}\n  b: {map: image-resize, from: w, with: {width: 9}}\n" + sinks, ""},
	{"each is loaded separately", "  a: {map: image-resize, from: in, with: {width: 8}}\n  b: {map: image-resize, from: in, with: {width: 9}}\n", ""},

	{"", "  mixed: {op: shuffle, from: in, checkpoint: true}\n", "costly-checkpoint mixed"},
	{"", "  last: {map: rename, from: in, with: {names: {image: i}}, checkpoint: true}\n" + out, "costly-checkpoint last"},
	{"results of a mapper before it are cached", "  stats: {map: image-stats, from: in}\n  mixed: {op: shuffle, from: stats, checkpoint: true}\n", ""},
}

const sinks = "  o: {sink: underfolder, from: a, with: {path: o}}\n  p: {sink: underfolder, from: b, with: {path: p}}\n"

// branches has two nodes that scale the images of one node, each written by a sink.
func branches(from, a string) string {
	return "  a: {map: image-resize, from: " + from + ", with: {width: 8}" + a + "}\n  b: {map: image-resize, from: " + from + ", with: {width: 9}}\n" + sinks
}

// drawing has the parameters with which components that accept an epoch draw.
var drawing = map[string]string{
	"color-jitter": "brightness: 0.5", "image-flip": "", "random-crop": "width: 8, height: 8",
	"random-resized-crop": "width: 8, height: 8", "random-erasing": "",
	"map-if": "probability: 0.5, step: {map: image-resize, with: {width: 8}}",
	"mix":    "n: 3", "sample": "n: 3", "shuffle": "", "weighted-sample": "n: 3, weight: '1'",
}

// TestEpochs checks the warning for each component that accepts an epoch and has none.
func TestEpochs(t *testing.T) {
	for _, c := range slices.Concat(component.All(component.Map), component.All(component.Op)) {
		if !slices.ContainsFunc(c.Params, func(p component.Param) bool { return p.Name == "epoch" }) {
			continue
		}
		with, ok := drawing[c.Name]
		if !ok {
			t.Errorf("%s takes an epoch, and it is not known here how it draws", c.Name)
		}
		for epoch, want := range map[string]string{"": "fixed-draw n", "epoch: 3": "fixed-draw n", `epoch: "${epoch}"`: ""} {
			with := strings.Trim(with+", "+epoch, ", ")
			if got := fixed(t, fmt.Sprintf("  n: {%s: %s, from: in, with: {%s}}\n", c.Kind, c.Name, with)); got != want {
				t.Errorf("%s with %q: found %q, want %q", c.Name, with, got, want)
			}
		}
	}
}

// TestFixedDraws checks that data that is split, written or stored may be drawn once.
func TestFixedDraws(t *testing.T) {
	for _, c := range []trial{
		{"parts are the same in each epoch", "  mixed: {op: shuffle, from: in}\n  parts: {op: split, from: mixed, with: {sizes: {a: 0.5, b: 0.5}}}\n", ""},
		{"a part is taken", "  mixed: {op: sample, from: in, with: {n: 20}}\n  last: {op: slice, from: mixed, with: {stop: 4}}\n", ""},
		{"it is written once", "  last: {op: weighted-sample, from: in, with: {n: 3, weight: '1'}}\n" + out, ""},
		{"it draws nothing", "  flip: {map: image-flip, from: in, with: {horizontal: 1}}\n", ""},
		{"nothing is random", "  some: {op: map-if, from: in, with: {where: 'true', step: {map: image-resize, with: {width: 8}}}}\n", ""},
		{"another rule warns", "  flip: {map: image-flip, from: in, keep: true}\n", ""},
		{"", "  mixed: {op: shuffle, from: in}\n  mine: {op: shard, from: mixed, with: {rank: 0, world-size: 2}}\n", "fixed-draw mixed"},
		{"", "  both: {map: compose, from: in, with: {steps: [{map: image-flip}]}}\n", "fixed-draw both"},
		{"", "  parts: {op: split, from: in, with: {sizes: {a: 0.5, b: 0.5}}}\n  mixed: {op: shuffle, from: parts.a}\n", "fixed-draw mixed"},
	} {
		if got := fixed(t, c.nodes); got != c.finds {
			t.Errorf("%s%s\nfound %q, want %q", c.near, c.nodes, got, c.finds)
		}
	}
}

// fixed returns the findings of the rule in a flow.
func fixed(t *testing.T, nodes string) string {
	t.Helper()
	var found []string
	for _, w := range check(t, nodes) {
		if w.Rule == "fixed-draw" {
			found = append(found, w.Rule+" "+w.Node)
		}
	}
	return strings.Join(found, ", ")
}

// TestSweep checks that variants of a node count as one node of the file.
func TestSweep(t *testing.T) {
	f, err := flow.Parse("flow.yaml", []byte(strings.Replace(letters, "nodes:", "sweep: {seed: [1, 2]}\nnodes:", 1)+mine+
		"  mixed: {op: shuffle, from: mine, with: {seed: \"${seed}\", epoch: \"${epoch}\"}}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if all := lint.Check(t.Context(), f, lint.Options{}); len(all) != 1 || all[0].Node != "mixed" {
		t.Errorf("found %v", all)
	}
}

// TestExamples checks that the flows of the examples have no findings.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/*/*.yaml")
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if filepath.Base(filepath.Dir(file)) == "extension" {
			continue // has its own components and test
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f, err := flow.Parse(file, content, nil)
		if err != nil {
			t.Fatal(err)
		}
		if all := lint.Check(t.Context(), f, lint.Options{Sources: true}); len(all) > 0 {
			t.Errorf("%s: %v", file, all)
		}
	}
}
