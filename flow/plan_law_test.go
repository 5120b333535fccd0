package flow_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/pool"
	"github.com/larder-data/larder/store/memory"

	_ "github.com/larder-data/larder/format/jsonl"
)

// drawn is a dataset of a random flow: a node and the items that its samples are sure to
// have.
type drawn struct {
	node  string
	items []string
}

// drawing draws a random flow over rows with the items a, a number, and b, a string.
type drawing struct {
	*rand.Rand
	text     strings.Builder
	sets     []drawn
	n, sinks int
}

func (d *drawing) one(words ...string) string { return words[d.IntN(len(words))] }

// some returns one of the datasets, preferably a recent one.
func (d *drawing) some() drawn { return d.sets[max(d.IntN(len(d.sets)), d.IntN(len(d.sets)))] }

// formula returns a boolean expression over an item of a dataset, which sort, group-by and
// others accept, too.
func (d *drawing) formula(s drawn) string {
	item := d.one(s.items...)
	switch {
	case item == "a":
		return "a % 2 == 0"
	case item[0] == 'e':
		return item + " < 4"
	}
	return item + ` < "8"`
}

// operators has ways to apply each operator of Larder. %d is a number of the node's own,
// FORMULA an expression.
var operators = map[string]string{
	"batch": "{size: 3}", "cat": "", "check-length": "{min: 0}", "chunk": "{n: 2}", "clone": "", "cycle": "{n: 9}", "enumerate": "{into: e%d}",
	"filter": "{where: 'FORMULA'}", "group-by": "{by: 'FORMULA'}", "index": "{indices: [0, -1, 0]}", "interleave": "",
	"map-if":   "{step: {map: hash, with: {items: [ITEM], into: m%d}}, where: 'FORMULA'}",
	"memorize": "", "mix": "{n: 7}", "pad": "{length: 12, truncate: true}", "repeat": "{times: 2}", "reverse": "", "sample": "{n: 5}",
	"shard": "{rank: 0, world-size: 2}", "shuffle": "{seed: 3}", "slice": "{start: 1, step: 2}", "sort": "{by: 'FORMULA ? 1 : 0'}",
	"split": "{sizes: [0.5, 0.5]}", "unbatch": "{items: [l], index: i%d}", "weighted-sample": "{n: 5, weight: 'FORMULA ? 1 : 2'}", "zip": `{keys: ["*", "z%d_*"], length: shortest}`,
}

// mappers has ways to apply some of the mappers.
var mappers = []string{
	"map: hash, with: {items: [ITEM], into: h%d}", "map: hash, with: {items: [ITEM], into: h%d}",
	"map: compose, with: {steps: [{map: hash, with: {items: [ITEM], into: c%d}}, {map: hash, with: {items: [b], into: d%d}}]}",
	"map: duplicate, with: {item: ITEM, into: u%d}",
}

// node adds a node with its outputs.
func (d *drawing) node() {
	from := d.some()
	d.n++
	name, what, new := fmt.Sprintf("n%d", d.n), "", ""
	inputs, out := from.node, drawn{name, slices.Clone(from.items)}
	var c *component.Component
	if d.IntN(5) < 2 {
		what = d.one(mappers...)
		new = map[string]string{"hash": "h", "compose": "c", "duplicate": ""}[what[5:strings.Index(what, ",")]]
	} else {
		names := slices.Sorted(maps.Keys(operators))
		c, _ = component.Find(component.Op, names[d.IntN(len(names))])
		what = "op: " + c.Name
		if with := operators[c.Name]; with != "" {
			what += ", with: " + with
		}
		new = map[string]string{"enumerate": "e"}[c.Name]
		if c.Many {
			other := d.some()
			inputs = fmt.Sprintf("[%s, %s]", from.node, other.node)
			if c.Name != "zip" {
				out.items = slices.DeleteFunc(out.items, func(i string) bool { return !slices.Contains(other.items, i) })
			}
		}
	}
	if new != "" {
		out.items = append(out.items, fmt.Sprintf("%s%d", new, d.n))
	}
	what = strings.NewReplacer("%d", fmt.Sprint(d.n), "ITEM", d.one(from.items...), "FORMULA", d.formula(from)).Replace(what)
	options := d.one("", "", "", ", keep: true", ", keep: true", ", checkpoint: true", ", checkpoint: auto", ", cache: {policy: lru, size: 3}", ", cache: {policy: auto, size: 4}")
	fmt.Fprintf(&d.text, "  %s: {%s, from: %s%s}\n", name, what, inputs, options)
	if c != nil && c.Outs {
		fmt.Fprintf(&d.text, "  %s-all: {op: cat, from: %s}\n", name, name)
		out.node += "-all"
	}
	d.sets = append(d.sets, out)
	if d.IntN(6) == 0 {
		d.sink(out)
	}
}

func (d *drawing) sink(of drawn) {
	d.sinks++
	fmt.Fprintf(&d.text, "  out%d: {sink: jsonl, from: %s, with: {path: out%d.jsonl, overwrite: replace}}\n", d.sinks, of.node, d.sinks)
}

func rowsOf(n int) []byte {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"a": %d, "b": "%x", "l": %s}`+"\n", i, i*7%16, []string{"[]", "[1]", "[2, 3]"}[i%3])
	}
	return []byte(b.String())
}

// TestPlanIsWhatTheRunDoes compares dry runs with runs of random flows, with all operators,
// kinds of caching and fill levels of caches. The dry run predicts the run, and says so
// where it cannot.
func TestPlanIsWhatTheRunDoes(t *testing.T) {
	for _, c := range component.All(component.Op) {
		if _, ok := operators[c.Name]; !ok && !c.Materialises() && strings.HasSuffix(c.Type.PkgPath(), "/op") {
			t.Errorf("operator %s is not tried", c.Name)
		}
	}
	random := testrand.New(t)
	const rows = 10
	ran := 0
	rounds := testrand.Rounds(40, 100)
	for range rounds {
		d := &drawing{Rand: random}
		d.text.WriteString("version: 1\nnodes:\n  src: {source: jsonl, with: {path: in.jsonl}}\n")
		d.sets = []drawn{{"src", []string{"a", "b"}}}
		for range 1 + d.IntN(7) {
			d.node()
		}
		d.sink(d.sets[len(d.sets)-1])
		dir := t.TempDir()
		before := d.IntN(3) * rows / 2 // rows in an earlier run
		if agree(t, dir, d.text.String(), before, rows) {
			ran++
		}
		if t.Failed() {
			t.Fatalf("after a run over %d of %d rows:\n%s", before, rows, d.text.String())
		}
	}
	if ran < rounds/2 {
		t.Errorf("only %d of %d flows ran", ran, rounds)
	}
}

// agree compares the plan of a flow with a run, and reports whether it ran.
func agree(t *testing.T, dir, text string, before, rows int) bool {
	t.Helper()
	f, err := flow.Parse(filepath.Join(dir, "flow.yaml"), []byte(text), nil)
	if err != nil {
		t.Errorf("%v", err)
		return false
	}
	s := memory.New(memory.Options{})
	in := filepath.Join(dir, "in.jsonl")
	options := func() flow.RunOptions { return flow.RunOptions{Larder: newLarder(t, s), Pool: pool.New(1)} }
	if before > 0 {
		if err := os.WriteFile(in, rowsOf(before), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = f.Run(t.Context(), options()) // a failing run has filled a part
	}
	if err := os.WriteFile(in, rowsOf(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	plan, planErr := f.Plan(t.Context(), options())
	report, err := f.Run(t.Context(), options())
	if planErr != nil && err == nil {
		t.Errorf("the plan failed and the run did not: %v", planErr)
	}
	if planErr != nil || err != nil {
		return false
	}
	for i, n := range plan.Nodes {
		compare(t, f, n, report.Nodes[i])
	}
	return true
}

// compare compares the plan of a node with its run.
func compare(t *testing.T, f *flow.Flow, p flow.NodePlan, r flow.NodeReport) {
	t.Helper()
	node, err := f.Node(p.Name)
	if err != nil || p.Name != r.Name {
		t.Fatalf("%s and %s: %v", p.Name, r.Name, err)
	}
	if p.Unknown == "" && p.Samples != r.Samples {
		t.Errorf("%s: planned %d samples, there were %d", p.Name, p.Samples, r.Samples)
	}
	if p.Kind == component.Sink || p.Kind == component.Source {
		return
	}
	least := p.Compute
	if p.AtMost { // minus the samples that may turn out as cached
		for _, why := range p.Reasons {
			if strings.HasPrefix(why.Text, "its inputs are computed first") || strings.HasPrefix(why.Text, "checkpoint: auto decides") {
				least -= why.Count
			}
		}
	}
	if node.Options.Cache != nil {
		least -= p.Cached // it is random which of two requests for a sample finds it in memory
	}
	open := p.AtLeast || p.Unknown != "" && p.Compute == 0
	often := !node.Options.Keep && !node.Options.Checkpoint && !node.Component.Scans && p.Compute > 0
	if r.Computed < least || r.Computed > p.Compute && !open && !often {
		t.Errorf("%s: planned %+v, done %+v", p.Name, p, r)
	}
}

// TestPlanOfWhatRepeats checks that a dry run reads each repeated sample once, and refuses
// repetitions that exceed any memory.
func TestPlanOfWhatRepeats(t *testing.T) {
	plan := func(op string) (*flow.Plan, error) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "in.jsonl"), rowsOf(3), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := flow.Parse(filepath.Join(dir, "flow.yaml"), []byte(`version: 1
nodes:
  src: {source: jsonl, with: {path: in.jsonl}}
  often: {op: repeat, from: src, with: {times: 1000000000000}}
  n: {`+op+`, from: often}
  out: {sink: jsonl, from: n, with: {path: out.jsonl}}
`), nil)
		if err != nil {
			t.Fatal(err)
		}
		return f.Plan(t.Context(), flow.RunOptions{Larder: newLarder(t, memory.New(memory.Options{})), Pool: pool.New(1)})
	}
	p, err := plan("map: hash, with: {items: [a], into: h}, keep: true")
	if err != nil {
		t.Fatal(err)
	}
	if n := p.Nodes[2]; n.Samples != 3e12 || n.Compute != 3 || n.AtMost || n.AtLeast {
		t.Errorf("%+v", n)
	}
	for _, op := range []string{"op: filter, with: {where: 'a > 1'}", "op: sort, with: {by: a}", "op: memorize"} {
		if _, err := plan(op); err == nil || !strings.Contains(err.Error(), "3000000000000 samples") {
			t.Errorf("%s: %v", op, err)
		}
	}
}
