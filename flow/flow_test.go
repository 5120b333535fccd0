package flow_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/pool"
	"github.com/larder-data/larder/store/memory"

	_ "github.com/larder-data/larder/format/images"
	_ "github.com/larder-data/larder/format/underfolder"
	_ "github.com/larder-data/larder/mapper"
	_ "github.com/larder-data/larder/op"
)

// letters writes a flow next to a copy of the letters, and parses it.
func letters(t testing.TB, nodes string) *flow.Flow {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "data"), os.DirFS("../examples/letters/data")); err != nil {
		t.Fatal(err)
	}
	content := "version: 1\nnodes:\n  letters: {source: underfolder, with: {path: data}}\n" + nodes
	f, err := flow.Parse(filepath.Join(dir, "flow.yaml"), []byte(content), nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func newLarder(t testing.TB, s *memory.Store) *larder.Larder {
	t.Helper()
	l, err := larder.Open(larder.Options{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func node(t *testing.T, r *flow.Report, name string) flow.NodeReport {
	t.Helper()
	i := slices.IndexFunc(r.Nodes, func(n flow.NodeReport) bool { return n.Name == name })
	if i < 0 {
		t.Fatalf("no node %s in the report", name)
	}
	return r.Nodes[i]
}

func TestRunReportsAndEvents(t *testing.T) {
	f := letters(t, `
  stats: {map: image-stats, from: letters, checkpoint: true}
  red: {op: filter, from: stats, with: {where: 'metadata.color == "red" and stats.width == 32'}}
  sorted: {op: sort, from: red, with: {by: metadata.letter, reverse: true}}
  out: {sink: underfolder, from: sorted, with: {path: out}}
`)
	s := memory.New(memory.Options{})
	var kinds []flow.EventKind
	r, err := f.Run(t.Context(), flow.RunOptions{Larder: newLarder(t, s), Observers: []func(flow.Event){func(e flow.Event) {
		if e.Node == "stats" && e.Event != flow.NodeProgress {
			kinds = append(kinds, e.Event)
		}
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if n := node(t, r, "stats"); n.Samples != 26 || n.Computed != 26 || n.FromMemory != 0 || n.FromStore != 0 || n.BytesWritten == 0 || n.Kind != "map" || n.Component != "image-stats" {
		t.Errorf("stats: %+v", n)
	}
	if n := node(t, r, "out"); n.Samples != 4 || n.Computed != 4 {
		t.Errorf("out: %+v", n)
	}
	if !slices.Equal(kinds, []flow.EventKind{flow.NodeStarted, flow.NodeDone}) {
		t.Errorf("events of stats: %v", kinds)
	}
	var letters []string
	for i := range 4 {
		b, err := os.ReadFile(filepath.Join(f.Dir, "out", "data", string(rune('0'+i))+"_metadata.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var m struct{ Letter string }
		if err := yaml.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		letters = append(letters, m.Letter)
	}
	if got := strings.Join(letters, ""); got != "voha" {
		t.Errorf("the red letters, backwards: %q", got)
	}
}

func TestSecondRunComputesNothing(t *testing.T) {
	f := letters(t, `
  stats: {map: image-stats, from: letters, checkpoint: true}
  groups: {op: group-by, from: stats, with: {by: metadata.color}}
  small: {map: image-resize, from: groups, with: {width: 8}, keep: true}
  out: {sink: underfolder, from: small, with: {path: out, overwrite: replace}}
`)
	s := memory.New(memory.Options{})
	for run, want := range []int64{26, 0} {
		r, err := f.Run(t.Context(), flow.RunOptions{Larder: newLarder(t, s)})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range r.Nodes {
			if n.Kind != "source" && n.Computed != want {
				t.Errorf("run %d: node %s computed %d, want %d", run+1, n.Name, n.Computed, want)
			}
		}
	}
	p, err := f.Plan(t.Context(), flow.RunOptions{Larder: newLarder(t, s)})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range p.Nodes {
		if n.Compute != 0 || n.Unknown != "" || (n.Name == "stats" || n.Name == "small") && n.Cached != 26 {
			t.Errorf("the plan after the runs: %+v", n)
		}
	}
}

func TestPlanWithoutACache(t *testing.T) {
	f := letters(t, `
  small: {map: image-resize, from: letters, with: {width: 8}}
  out: {sink: underfolder, from: small, with: {path: out}}
`)
	p, err := f.Plan(t.Context(), flow.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range p.Nodes {
		if n.Name == "small" && n.Compute != 26 {
			t.Errorf("the plan without a cache: %+v", n)
		}
	}
}

func TestPlanSaysWhatAndWhy(t *testing.T) {
	f := letters(t, `
  stats: {map: image-stats, from: letters, checkpoint: true}
  small: {map: image-resize, from: stats, with: {width: 8}}
  out: {sink: underfolder, from: small, with: {path: out, overwrite: replace}}
`)
	s := memory.New(memory.Options{})
	plan := func() (stats, small flow.NodePlan) {
		t.Helper()
		p, err := f.Plan(t.Context(), flow.RunOptions{Larder: newLarder(t, s)})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range p.Nodes {
			switch n.Name {
			case "stats":
				stats = n
			case "small":
				small = n
			}
		}
		return stats, small
	}
	check := func(what string, n flow.NodePlan, cached, compute int64, reason string) {
		t.Helper()
		if n.Cached != cached || n.Compute != compute {
			t.Errorf("%s: %d cached and %d to compute, want %d and %d", what, n.Cached, n.Compute, cached, compute)
		}
		if compute > 0 && (len(n.Reasons) != 1 || !strings.Contains(n.Reasons[0].Text, reason)) {
			t.Errorf("%s: reasons %+v, want %q", what, n.Reasons, reason)
		}
	}
	stats, small := plan()
	check("before the first run", stats, 0, 26, "not computed before")
	check("before the first run", small, 0, 26, "not cached")
	if u, _ := s.Usage(t.Context()); u.Records > 26*3 {
		t.Errorf("a plan stored %d records", u.Records)
	}
	if _, err := os.Stat(filepath.Join(f.Dir, "out")); !os.IsNotExist(err) {
		t.Error("a plan wrote the output")
	}
	if _, err := f.Run(t.Context(), flow.RunOptions{Larder: newLarder(t, s)}); err != nil {
		t.Fatal(err)
	}
	stats, small = plan()
	check("after a run", stats, 26, 0, "")
	check("after a run", small, 0, 26, "not cached")
	image := filepath.Join(f.Dir, "data", "data", "05_image.jpeg")
	b, err := os.ReadFile(image)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(image, append(b, 'x'), 0o666); err != nil {
		t.Fatal(err)
	}
	stats, _ = plan()
	check("one image changed", stats, 25, 1, "image")
	if stats.Reasons[0].First != 5 {
		t.Errorf("the changed sample is said to be %d", stats.Reasons[0].First)
	}
}

func TestRunWithoutALarder(t *testing.T) {
	f := letters(t, `
  stats: {map: image-stats, from: letters}
  parts: {op: split, from: stats, with: {sizes: {train: 0.8, test: 0.2}}}
  out: {sink: underfolder, from: parts.train, with: {path: out}}
`)
	r, err := f.Run(t.Context(), flow.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if n := node(t, r, "out"); n.Samples != 21 {
		t.Errorf("the part is of %d samples, want 21", n.Samples)
	}
}

func TestInterruptedRun(t *testing.T) {
	f := letters(t, "  stats: {map: image-stats, from: letters, checkpoint: true}\n")
	ctx, cancel := context.WithCancel(t.Context())
	r, err := f.Run(ctx, flow.During(flow.RunOptions{Larder: newLarder(t, memory.New(memory.Options{}))}, func(e flow.Event) {
		if e.Node == "stats" {
			cancel()
		}
	}))
	if !errors.Is(err, context.Canceled) || r.Status != flow.Interrupted {
		t.Errorf("status %v, error %v", r.Status, err)
	}
}

func TestSchema(t *testing.T) {
	b, err := json.Marshal(flow.Schema())
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("flow.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("flow.json")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("../examples/letters/flow.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		what, flow string
		valid      bool
	}{
		{"the example", string(example), true},
		{"a misspelt node field", "version: 1\nnodes: {a: {source: underfolder, wiht: {path: x}}}", false},
		{"a misspelt parameter", "version: 1\nnodes: {a: {source: underfolder, with: {pth: x}}}", false},
		{"an unknown component", "version: 1\nnodes: {a: {source: underfoldr, with: {path: x}}}", false},
		{"a missing parameter", "version: 1\nnodes: {a: {source: underfolder}}", false},
		{"a parameter of a wrong type", "version: 1\nnodes: {a: {source: underfolder, with: {path: x}}, b: {op: repeat, from: a, with: {times: x}}}", false},
		{"a variable", "version: 1\nvars: {n: 1}\nnodes: {a: {source: underfolder, with: {path: x}}, b: {op: repeat, from: a, with: {times: \"${n}\"}}}", true},
		{"a mapper without input", "version: 1\nnodes: {b: {map: image-stats}}", false},
	} {
		var v any
		if err := yaml.Unmarshal([]byte(test.flow), &v); err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		instance, err := jsonschema.UnmarshalJSON(strings.NewReader(string(b)))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(instance); (err == nil) != test.valid {
			t.Errorf("%s: %v", test.what, err)
		}
		_, err = flow.Parse("flow.yaml", []byte(test.flow), nil)
		if (err == nil) != test.valid {
			t.Errorf("%s: the parser says %v", test.what, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	example, err := os.ReadFile("../examples/letters/flow.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(example))
	f.Add("version: 1\nvars: {a: [1]}\nnodes: {x: {op: slice, from: [x, \"${a}\"], with: {start: ~}}}")
	f.Add("a: &a [*a]")
	f.Add("version: 1\nnodes: {? [1] : 2}")
	f.Fuzz(func(t *testing.T, content string) {
		_, err := flow.Parse("flow.yaml", []byte(content), nil)
		var list flow.Errors
		if err != nil && !errors.As(err, &list) {
			t.Errorf("an error of another kind: %v", err)
		}
	})
}

func TestFlowsBuiltInGoHaveManifestsOfTheirOwn(t *testing.T) {
	s := memory.New(memory.Options{})
	f := letters(t, "  stats: {map: image-stats, from: letters, checkpoint: true}\n")
	for _, name := range []string{"one", "two"} {
		g, err := flow.New(name, f.Dir, f.Nodes...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Run(t.Context(), flow.RunOptions{Larder: newLarder(t, s)}); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for _, err := range s.Manifests(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 2 {
		t.Errorf("%d manifests of two flows", n)
	}
}

// TestHugeVirtualDataset checks that a dataset that is only an order takes no memory, and
// that a slice of it runs.
func TestHugeVirtualDataset(t *testing.T) {
	f := letters(t, `
  many: {op: repeat, from: letters, with: {times: 10000000000}}
  stats: {map: image-stats, from: many, keep: true}
  few: {op: slice, from: stats, with: {start: -3}}
  out: {sink: underfolder, from: few, with: {path: out}}
`)
	r, err := f.Run(t.Context(), flow.RunOptions{Larder: newLarder(t, memory.New(memory.Options{}))})
	if err != nil {
		t.Fatal(err)
	}
	if n := node(t, r, "stats"); n.Computed != 3 {
		t.Errorf("%d computed, want 3", n.Computed)
	}
}

func TestCheckpointOfAnOperatorCountsOnce(t *testing.T) {
	f := letters(t, `
  stats: {map: image-stats, from: letters, keep: true}
  twice: {op: repeat, from: stats, with: {times: 2}, checkpoint: true}
  out: {sink: underfolder, from: twice, with: {path: out}}
`)
	r, err := f.Run(t.Context(), flow.RunOptions{Larder: newLarder(t, memory.New(memory.Options{}))})
	if err != nil {
		t.Fatal(err)
	}
	if n := node(t, r, "stats"); n.Computed != 26 || n.FromMemory+n.FromStore != 26 {
		t.Errorf("%d computed, %d from memory and %d from the store of 52 requested", n.Computed, n.FromMemory, n.FromStore)
	}
}

// TestCacheKnowsTheOrder reads the letters three times in order, with memory for half of
// them. An online policy such as lru has no hit; the one that knows the order has the
// optimum.
func TestCacheKnowsTheOrder(t *testing.T) {
	for policy, want := range map[string]int64{"lru": 0, "opt": 2 * 13, "auto": 2 * 13} {
		f := letters(t, `
  stats: {map: image-stats, from: letters, cache: {policy: `+policy+`, size: 13}}
  many: {op: repeat, from: stats, with: {times: 3}}
  out: {sink: underfolder, from: many, with: {path: out}}
`)
		r, err := f.Run(t.Context(), flow.RunOptions{Pool: pool.New(1)})
		if err != nil {
			t.Fatal(err)
		}
		n := node(t, r, "stats")
		if n.MemoryReads != want || n.FromMemory != want/2 || n.Computed != 3*26-want {
			t.Errorf("%s: %d reads of %d samples from memory and %d computed, want %d of %d", policy, n.MemoryReads, n.FromMemory, n.Computed, want, want/2)
		}
		if policy != "lru" && (n.Cache == nil || n.Cache.KnownOrders != 1 || n.Cache.UnknownOrders != 0) {
			t.Errorf("%s: the report says %+v", policy, n.Cache)
		}
	}
}

// TestOrdersThroughOperators checks that a cache receives the order of its reads. With the
// optimal policy it then has the most hits possible.
func TestOrdersThroughOperators(t *testing.T) {
	const seen = "  seen: {map: rest, from: letters, cache: {policy: opt, size: 13}}\n"
	for name, c := range map[string]struct {
		nodes          string
		hits           int64
		known, unknown int
	}{
		"enumerate and map-if": {"  twice: {op: repeat, from: seen, with: {times: 2}}\n  e: {op: enumerate, from: twice}\n" +
			"  last: {op: map-if, from: e, with: {range: '::2', step: {map: drop-keys, with: {keys: [image]}}}}\n", 13, 1, 0},
		"cat of itself and itself backwards": {"  back: {op: reverse, from: seen}\n  last: {op: cat, from: [seen, back]}\n", 13, 1, 0},
		"repeat of a cat": {"  some: {op: slice, from: seen, with: {stop: 13}}\n  all: {op: cat, from: [some, seen]}\n" +
			"  last: {op: repeat, from: all, with: {times: 2}}\n", 13 + 13 + 13, 1, 0},
		"zip of itself and itself backwards": {"  bare: {map: keep-keys, from: seen, with: {keys: [metadata]}}\n  turned: {op: reverse, from: bare}\n" +
			"  other: {map: rename, from: turned, with: {names: {metadata: second}}}\n  last: {op: zip, from: [bare, other]}\n", 13, 1, 0},
		"zip that looks at what clashes": {"  bare: {map: keep-keys, from: seen, with: {keys: [metadata]}}\n  turned: {op: reverse, from: bare}\n" +
			"  other: {map: rename, from: turned, with: {names: {metadata: second}}}\n" +
			"  last: {op: zip, from: [bare, other], with: {clash: first}}\n", 13, 1, 0},
		"shuffled": {"  last: {op: shuffle, from: seen, with: {seed: 1}}\n", 0, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := letters(t, seen+c.nodes+"  out: {sink: underfolder, from: last, with: {path: out}}\n")
			r, err := f.Run(t.Context(), flow.RunOptions{Pool: pool.New(1)})
			if err != nil {
				t.Fatal(err)
			}
			n := node(t, r, "seen")
			if n.Cache.KnownOrders != c.known || n.Cache.UnknownOrders != c.unknown {
				t.Errorf("the report says %+v, want %d known and %d unknown", n.Cache, c.known, c.unknown)
			}
			if c.hits >= 0 && n.MemoryReads != c.hits {
				t.Errorf("%d reads from memory, want %d", n.MemoryReads, c.hits)
			}
		})
	}
}

func TestTraceOfReads(t *testing.T) {
	f := letters(t, `
  three: {op: slice, from: letters, with: {stop: 3}}
  back: {op: reverse, from: three}
  out: {sink: underfolder, from: back, with: {path: out}}
`)
	var trace []byte
	_, err := f.Run(t.Context(), flow.RunOptions{Pool: pool.New(1), Trace: func(string) func([]byte) {
		return func(line []byte) { trace = append(trace, line...) }
	}})
	if err != nil || string(trace) != "2\n1\n0\n" {
		t.Errorf("the trace is %q, error %v", trace, err)
	}
}
