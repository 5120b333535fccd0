package flow_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/store/memory"
)

// grouped is a flow whose groups are named by a colour and a number. All letters have one
// length, so one number suffices.
const grouped = `
  colours: {op: group-by, from: letters, with: {by: metadata.color}}
  stats: {map: image-stats, from: colours, keep: true}
  red: {sink: underfolder, from: stats.red, with: {path: red, overwrite: replace}}
  all: {sink: underfolder, from: stats, with: {path: all, overwrite: replace}}
  lengths: {op: group-by, from: letters, with: {by: len(metadata.letter)}}
  wide: {map: image-stats, from: lengths}
`

// counts returns the sizes of the groups of letters by colour.
func counts(t *testing.T) map[string]int64 {
	t.Helper()
	d, err := letters(t, grouped).Open(t.Context(), "colours", flow.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int64{}
	for i, name := range d.Names {
		n[name] = int64(d.Parts[i].Len())
	}
	if len(n) != 4 || n["red"] == 0 || n["red"] == 26 {
		t.Fatalf("%v", n)
	}
	return n
}

// TestOneOutputOfAGroup checks that a sink or a run that requests a group by its value
// computes only this group.
func TestOneOutputOfAGroup(t *testing.T) {
	n := counts(t)
	for _, c := range []struct {
		only []string
		want int64
	}{
		{[]string{"red"}, n["red"]},
		{[]string{"stats.red"}, n["red"]},
		{[]string{"stats.red", "stats.blue"}, n["red"] + n["blue"]},
		{[]string{"stats.red", "stats", "stats.blue"}, 26},
		{[]string{"stats.1"}, n["green"]}, // the second one found
		{[]string{"colours.red"}, 0},
		{[]string{"stats"}, 26},
	} {
		f, o := letters(t, grouped), flow.RunOptions{Larder: newLarder(t, memory.New(memory.Options{})), Only: c.only}
		plan, err := f.Plan(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(plan.Nodes, func(n flow.NodePlan) bool { return n.Name == "stats" })
		if i >= 0 && plan.Nodes[i].Compute != c.want {
			t.Errorf("%v: the plan is %+v, want %d computed", c.only, plan.Nodes[i], c.want)
		}
		for run, want := range []int64{c.want, 0} {
			r, err := f.Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if i < 0 {
				continue
			}
			if got := node(t, r, "stats"); got.Computed != want || got.Samples != 26 {
				t.Errorf("run %d of %v: %d computed of %d, want %d of 26", run, c.only, got.Computed, got.Samples, want)
			}
		}
		if plan, err = f.Plan(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if i >= 0 && (plan.Nodes[i].Compute != 0 || plan.Nodes[i].Cached != c.want) {
			t.Errorf("%v: afterwards the plan is %+v, want %d cached", c.only, plan.Nodes[i], c.want)
		}
	}
}

// TestOpenOutput checks that a program reads one output, numbered separately, with
// provenance as for the samples of a node.
func TestOpenOutput(t *testing.T) {
	n := counts(t)
	f, o := letters(t, grouped), flow.RunOptions{Larder: newLarder(t, memory.New(memory.Options{}))}
	d, err := f.Open(t.Context(), "stats.red", o)
	if err != nil || d.Names != nil || len(d.Parts) != 1 || int64(d.Parts[0].Len()) != n["red"] {
		t.Fatalf("%+v, %v", d, err)
	}
	for s, err := range dataset.All(t.Context(), d.Parts[0]) {
		if err != nil {
			t.Fatal(err)
		}
		it, err := s.Item("metadata")
		if err != nil {
			t.Fatal(err)
		}
		if b, err := it.Bytes(t.Context()); err != nil || !strings.Contains(string(b), "color: red") {
			t.Errorf("%s, %v", b, err)
		}
	}
	last := int(n["red"]) - 1
	if all, err := f.Lineage(t.Context(), o, "stats.red", last); err != nil || len(all) < 3 {
		t.Errorf("%v, %v", all, err)
	}
	if lines, err := f.Why(t.Context(), o, "stats.red", last); err != nil || len(lines) != 1 || !strings.HasPrefix(lines[0], "stats.red, sample") {
		t.Errorf("%q, %v", lines, err)
	}
	if _, err := f.Why(t.Context(), o, "stats.red", last+1); err == nil || !strings.Contains(err.Error(), "there is no sample") {
		t.Errorf("a sample that is not of the group: %v", err)
	}
}

// TestOutputsThatAreNotThere checks wrong requests. A number is not a list position where
// groups are named by numbers.
func TestOutputsThatAreNotThere(t *testing.T) {
	f, o := letters(t, grouped), flow.RunOptions{Larder: newLarder(t, memory.New(memory.Options{}))}
	for name, says := range map[string]string{
		"stats.rde":   `there is no output "rde"; did you mean "red"?`,
		"letters.red": `node letters has no named outputs; leave out ".red"`,
		"red.red":     `node red is a sink and has no outputs; leave out ".red"`,
		"all.red":     `node all is a sink`,
		"colour.red":  `unknown node "colour"; did you mean "colours"?`,
		"wide.0":      `there is no output "0"`,
		"wide.2":      `there is no output "2"`,
		"wide.":       `wide. has no output name after the dot`,
	} {
		o.Only = []string{name}
		if _, err := f.Run(t.Context(), o); !errors.Is(err, flow.ErrRequest) || !strings.Contains(err.Error(), says) {
			t.Errorf("a run of %s: %v, want %s", name, err, says)
		}
		if _, err := f.Open(t.Context(), name, o); !errors.Is(err, flow.ErrRequest) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s is opened: %v, want %s", name, err, says)
		}
	}
	if d, err := f.Open(t.Context(), "wide.1", o); err != nil || d.Parts[0].Len() != 26 {
		t.Errorf("the letters of one letter: %v", err)
	}
}

// TestTargetsOfASweep checks that a name selects all variants, or one.
func TestTargetsOfASweep(t *testing.T) {
	content := `
version: 1
sweep: {q: [0.5, 0.25]}
nodes:
  in: {source: underfolder, with: {path: data}}
  parts: {op: split, from: in, with: {sizes: ["${q}", null]}}
`
	f, err := flow.Parse("flow.yaml", []byte(content), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"parts": "parts@q=0_5 parts@q=0_25", "parts.1": "parts@q=0_5 parts@q=0_25",
		"parts@q=0_5": "parts@q=0_5", "parts@q=0_25.1": "parts@q=0_25", "in": "in",
	} {
		nodes, err := f.Targets(name)
		var names []string
		for _, n := range nodes {
			names = append(names, n.Name)
		}
		if got := strings.Join(names, " "); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, want)
		}
	}
	if _, err := f.Open(t.Context(), "parts.1", flow.RunOptions{}); err == nil || !strings.Contains(err.Error(), "has several variants from a sweep; name one, such as parts@q=") {
		t.Errorf("what several nodes are called is opened: %v", err)
	}
}

// TestNumbersAreNames checks that a number selects an output of this name, if there is one.
func TestNumbersAreNames(t *testing.T) {
	part := []component.Samples{dataset.List[dataset.Sample](), dataset.List[dataset.Sample](), dataset.List[dataset.Sample]()}
	for _, c := range []struct {
		names []string
		name  string
		at    int
	}{
		{[]string{"a", "b", "c"}, "2", 2}, {[]string{"a", "b", "c"}, "3", -1}, {[]string{"2", "1", "0"}, "2", 0},
		{[]string{"5", "x", "y"}, "1", -1}, {[]string{"5", "x", "y"}, "y", 2}, {[]string{"-1", "x", "y"}, "0", -1},
	} {
		at, err := component.Data{Parts: part, Names: c.names}.Find(c.name)
		if (err != nil) != (c.at < 0) || err == nil && at != c.at {
			t.Errorf("%s of %v: %d, %v; want %d", c.name, c.names, at, err, c.at)
		}
	}
}
