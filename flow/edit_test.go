package flow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/flow"
	_ "github.com/larder-data/larder/format/numpy"
	"github.com/larder-data/larder/format/underfolder"
	"github.com/larder-data/larder/mapper"
	"github.com/larder-data/larder/op"
)

const toEdit = `version: 1
sweep: {width: [8, 16]}
nodes:
  in: {source: underfolder, with: {path: data}}
  mixed: {op: shuffle, from: in}
  parts: {op: split, from: mixed, with: {sizes: {a: 0.5, b: null}}}
  small: {map: image-resize, from: parts.a, with: {width: "${width}"}, keep: true}
  out: {sink: underfolder, from: small, with: {path: "out/${width}"}}
`

func parsed(t *testing.T, text string) *flow.Flow {
	t.Helper()
	f, err := flow.Parse("flow.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// graph has the nodes and their inputs.
func graph(f *flow.Flow) string {
	var all []string
	for _, n := range f.Nodes {
		all = append(all, fmt.Sprintf("%s=%s%v", n.Name, n.Component.Name, n.From))
	}
	return strings.Join(all, " ")
}

func TestEdits(t *testing.T) {
	half := 0.5
	const before, after = "in=underfolder[] mixed=shuffle[in] ", " out@width=8=underfolder[small@width=8] out@width=16=underfolder[small@width=16]"
	const small = "parts=split[mixed] small@width=8=image-resize[parts.a] small@width=16=image-resize[parts.a]"
	for _, c := range []struct {
		name string
		edit func(e *flow.Editor)
		want string
	}{
		{"nothing", func(*flow.Editor) {}, before + small + after},
		{"remove", func(e *flow.Editor) { e.Remove("mixed") }, "in=underfolder[] " + strings.Replace(small, "[mixed]", "[in]", 1) + after},
		{"remove what has outputs", func(e *flow.Editor) { e.Remove("parts") }, before + "small@width=8=image-resize[mixed] small@width=16=image-resize[mixed]" + after},
		{"replace", func(e *flow.Editor) { e.Replace("mixed", op.Reverse{}) }, strings.Replace(before, "=shuffle", "=reverse", 1) + small + after},
		{"after", func(e *flow.Editor) { e.After("in", "few", op.Cycle{N: 3}) }, "in=underfolder[] few=cycle[in] mixed=shuffle[few] " + small + after},
		{"after what has outputs", func(e *flow.Editor) { e.After("parts", "stats", mapper.ImageStats{}) }, before + "parts=split[mixed] stats=image-stats[parts] small@width=8=image-resize[stats.a] small@width=16=image-resize[stats.a]" + after},
		{"before variants", func(e *flow.Editor) { e.Before("small", "stats", mapper.ImageStats{}) }, before + "parts=split[mixed] small@width=8=image-resize[stats@width=8] stats@width=8=image-stats[parts.a] small@width=16=image-resize[stats@width=16] stats@width=16=image-stats[parts.a]" + after},
		{"wrap one variant", func(e *flow.Editor) {
			e.Wrap("small@width=8", func(s component.Step) any { return op.MapIf{Step: s, Probability: &half} })
		}, before + strings.Replace(small, "=image-resize", "=map-if", 1) + after},
	} {
		f := parsed(t, toEdit)
		was := graph(f)
		e := f.Edit()
		c.edit(e)
		g, err := e.Flow()
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := graph(g); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
		if graph(f) != was {
			t.Errorf("%s: the flow that was edited is another one", c.name)
		}
		if n, err := g.Node("small@width=8"); err != nil || !n.Options.Keep {
			t.Errorf("%s: the options are lost", c.name)
		}
	}
}

func TestEditsThatAreWrong(t *testing.T) {
	for want, edit := range map[string]func(e *flow.Editor){
		`unknown node "mixd"; did you mean "mixed"`: func(e *flow.Editor) { e.Remove("mixd") },
		`unknown node ""`: func(e *flow.Editor) { e.Nodes[0].Base = ""; e.Remove("") },
		"node in: a source reads nothing, so mixed": func(e *flow.Editor) { e.Remove("in") },
		"node mixed: op shuffle cannot be wrapped":  func(e *flow.Editor) { e.Wrap("mixed", func(component.Step) any { return nil }) },
		"node mixed: int is not a component":        func(e *flow.Editor) { e.Replace("mixed", 1) },
		"node mixed: n is -1":                       func(e *flow.Editor) { e.Replace("mixed", op.Cycle{N: -1}) },
		"two nodes are named":                       func(e *flow.Editor) { e.After("in", "mixed", op.Reverse{}) },
		"letters, digits, _ and - only":             func(e *flow.Editor) { e.After("in", "a b", op.Reverse{}) },
		"workers is -1; give 0 or more":             func(e *flow.Editor) { e.Nodes[0].Options.Workers = -1 },
	} {
		e := parsed(t, toEdit).Edit()
		edit(e)
		if _, err := e.Flow(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// written has a flow as written, and the flow parsed from it.
func written(t *testing.T, f *flow.Flow) (text string, again *flow.Flow) {
	t.Helper()
	b, err := f.YAML()
	if err != nil {
		t.Fatal(err)
	}
	again, err = flow.Parse(filepath.Join(f.Dir, "flow.yaml"), b, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	return string(b), again
}

const allKinds = `version: 1
limits: {pixels: 10, unpacked: 1KiB}
defaults: {workers: 2, on-error: {skip: 5%}}
nodes:
  in: {source: underfolder, with: {path: "no: ${x}"}, cache: {policy: lru, size: 3}}
  a: {map: compute, from: in, with: {set: {x: "1 + 1", n: "\"null\""}}, keep: true}
  b: {map: set-value, from: a, with: {key: doc, value: {z: 1, a: [1.5, 2.0, true, null, "3", "on", "", " x ", "a\nb"], switch: x}}, checkpoint: auto}
  c: {op: map-if, from: b, with: {step: {map: compose, with: {steps: [{map: image-flip, with: {horizontal: 0}}, {map: rename, with: {names: {a: b, "1": "2"}}}]}}, probability: 0.25}}
  d: {op: slice, from: c, with: {start: -3, step: 2}}
  e: {op: zip, from: [d, in], with: {keys: ["*", "r_*"], length: shortest}, checkpoint: true}
  f: {op: split, from: e, with: {sizes: {t: 0.5, u: null}}}
  out: {sink: underfolder, from: f.t, with: {path: out, overwrite: replace}}
  more: {sink: jsonl, from: f, with: {path: more}}
`

// TestWrittenFlows checks that a written flow parses to the original.
func TestWrittenFlows(t *testing.T) {
	texts := []string{strings.Replace(allKinds, "${x}", "$${x}", 1), toEdit}
	files, err := filepath.Glob("../examples/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !strings.Contains(file, "extension") { // which has components of its own
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(b))
		}
	}
	for _, text := range texts {
		f := parsed(t, text)
		is, g := written(t, f)
		one, err := f.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if two, err := g.JSON(); err != nil || string(two) != string(one) || !json.Valid(one) {
			t.Errorf("as JSON it is\n%s\nand was\n%s, %v", two, one, err)
		}
		if again, _ := written(t, g); again != is {
			t.Errorf("written again it is\n%s\nand was\n%s", again, is)
		}
		if g.Limits != f.Limits {
			t.Errorf("limits %v, want %v", g.Limits, f.Limits)
		}
		for i, n := range f.Nodes {
			m := g.Nodes[i]
			if n.Component != m.Component || !reflect.DeepEqual(n.Params, m.Params) || len(n.From) != len(m.From) {
				t.Errorf("node %s is %+v, want %+v\n%s", n.Name, m, n, is)
			}
			if k := n.Component.Kind; k != component.Sink && k != component.Op && !reflect.DeepEqual(n.Options, m.Options) {
				t.Errorf("node %s: options %+v, want %+v", n.Name, m.Options, n.Options)
			}
		}
		of, err := f.Fingerprint(f.Nodes[len(f.Nodes)-1].Name)
		if err != nil {
			t.Fatal(err)
		}
		if now, err := g.Fingerprint(g.Nodes[len(g.Nodes)-1].Name); err != nil || now != of {
			t.Errorf("another fingerprint, or %v", err)
		}
	}
}

func TestWrittenFlowsOfGo(t *testing.T) {
	b := flow.NewBuilder("go", ".")
	in := b.Add("in", underfolder.Source{Path: "data"})
	b.Add("own", dataset.MapperFunc(func(_ context.Context, s dataset.Sample) (dataset.Sample, error) { return s, nil }), in)
	f, err := b.Flow()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.YAML(); err == nil || !strings.Contains(err.Error(), "node own: a Go value") {
		t.Errorf("got %v", err)
	}
	if _, err := f.Fingerprint("own"); err == nil {
		t.Error("a mapper without a name has a fingerprint")
	}
	if _, err := f.Fingerprint("in"); err != nil {
		t.Error(err)
	}
}

// TestFingerprints checks that fingerprints cover everything that can change the data, and
// nothing else.
func TestFingerprints(t *testing.T) {
	const text = "version: 1\nvars: {w: 8}\nnodes:\n" +
		"  in: {source: underfolder, with: {path: data}}\n" +
		"  run: {map: exec, from: in, with: {command: [cp], items: [image], into: [x], batch: 4}}\n" +
		"  small: {map: image-resize, from: run, with: {width: \"${w}\"}}\n" +
		"  out: {sink: underfolder, from: small, with: {path: out}}\n"
	print := func(text string) any {
		t.Helper()
		d, err := parsed(t, text).Fingerprint()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, c := range []struct {
		from, to string
		same     bool
	}{
		{"width: \"${w}\"}", "width: 8}, keep: true, workers: 3, cache: {policy: lru, size: 3}", true},
		{"width: \"${w}\"", "width: \"${w}\", filter: bilinear", true}, // its default
		{"batch: 4", "batch: 8, timeout: 3s, max-bytes: 5", true},
		{"path: out", "path: other, overwrite: replace", true},
		{"  out: {", "  more: {op: reverse, from: in}\n  out: {", true},
		{"  out: {sink: underfolder, from: small", "  n: {op: reverse, from: small}\n  out: {sink: underfolder, from: n", false},
		{"w: 8", "w: 9", false},
		{"path: data", "path: other", false},
		{"[cp]", "[mv]", false},
		{"batch: 4}", "batch: 4}, on-error: skip", false},
		{"from: small", "from: run", false},
		{"sink: underfolder", "sink: jsonl", false},
		{"path: data", "path: ./data/", true},
		{"width: \"${w}\"}", "width: 8}, checkpoint: true", true},
		{"version: 1", "version: 1\nlimits: {pixels: 9}", true},
	} {
		if now := print(strings.Replace(text, c.from, c.to, 1)); (now == print(text)) != c.same {
			t.Errorf("%s in place of %s: same %v, want %v", c.to, c.from, !c.same, c.same)
		}
	}
	renamed := strings.NewReplacer("run:", "walk:", "from: run", "from: walk").Replace(text)
	if print(renamed) != print(text) {
		t.Error("the name of a node counts")
	}
	skips := strings.Replace(text, "path: data}", "path: data}, on-error: skip", 1)
	if print(skips) == print("limits: {pixels: 9}\n"+skips) {
		t.Error("what files may claim does not count where samples are skipped")
	}
	const more = "  more: {sink: jsonl, from: in, with: {path: more}}\n"
	if print(text+more) != print(strings.Replace(text, "nodes:\n", "nodes:\n"+more, 1)) {
		t.Error("the order of sinks counts")
	}
	const points = "version: 1\nnodes:\n  in: {source: underfolder, with: {path: data}}\n" +
		"  a: {op: reverse, from: in, checkpoint: true}\n  b: {op: reverse, from: a, checkpoint: true}\n"
	if print(points) != print(strings.Replace(points, "in, checkpoint: true", "in", 1)) {
		t.Error("a checkpoint on the way counts")
	}
}
