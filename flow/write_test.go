package flow_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/format/jsonl"
	"github.com/larder-data/larder/op"
)

// TestWrittenElsewhere checks that commands and modules of an included file start in its
// directory after the flow is written elsewhere. Those that start elsewhere differ.
func TestWrittenElsewhere(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "inc"), 0o777); err != nil {
		t.Fatal(err)
	}
	const nodes = "nodes:\n  in: {source: jsonl, with: {path: ./in.jsonl}}\n" +
		"  run: {map: exec, from: in, with: {command: [sh, e.sh], items: [n], into: [r]}}\n" +
		"  call: {map: compose, from: run, with: {steps: [{map: python, with: {function: \"mod:f\", items: [n], into: [q]}}]}}\n"
	if err := os.WriteFile(filepath.Join(dir, "inc", "i.yaml"), []byte("version: 1\n"+nodes), 0o666); err != nil {
		t.Fatal(err)
	}
	parse := func(text string) *flow.Flow {
		f, err := flow.Parse(filepath.Join(dir, "flow.yaml"), []byte("version: 1\n"+text), nil)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	print := func(f *flow.Flow) any {
		d, err := f.Fingerprint("call")
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	f := parse("include: inc/i.yaml\n")
	is, g := written(t, f)
	if print(f) != print(g) {
		t.Errorf("written it has another fingerprint:\n%s", is)
	}
	for _, name := range []string{"run", "call"} {
		was, _ := f.Node(name)
		now, _ := g.Node(name)
		if now.Dir != filepath.Join(dir, "inc") || !reflect.DeepEqual(was.Params, now.Params) {
			t.Errorf("node %s starts in %s with %+v:\n%s", name, now.Dir, now.Params, is)
		}
	}
	if in := g.Nodes[0]; in.Dir != "" || in.Params.(jsonl.Source).Path != component.Path(filepath.Join("inc", "in.jsonl")) {
		t.Errorf("what has paths alone is %+v", in)
	}
	if here := parse(strings.Replace(nodes, "./in.jsonl", "inc/in.jsonl", 1)); print(here) == print(f) {
		t.Error("what starts in another directory has the same fingerprint")
	}
	if print(parse("include: inc/i.yaml\n")) != print(parse("include: ./inc/../inc/i.yaml\n")) {
		t.Error("how a directory is named counts")
	}
}

// TestEpochStays checks that the variable that a loader sets stays a variable in a written
// flow unless it was given. A switch on it cannot be written.
func TestEpochStays(t *testing.T) {
	const text = "version: 1\nvars: {epoch: 0, e: \"${epoch}\"}\nnodes:\n" +
		"  in: {source: underfolder, with: {path: \"d $${x} ${epoch}\"}}\n" +
		"  mixed: {op: shuffle, from: in, with: {epoch: \"${e}\", seed: 0}}\n"
	f := parsed(t, text)
	is, g := written(t, f)
	for _, has := range []string{"epoch: 0", "epoch: ${epoch}", "path: d $${x} ${epoch}"} {
		if !strings.Contains(is, has) {
			t.Errorf("no %q in\n%s", has, is)
		}
	}
	again, err := flow.Parse("flow.yaml", []byte(is), map[string]string{"epoch": "3"})
	if err != nil || again.Nodes[1].Params.(op.Shuffle).Epoch != 3 || g.Nodes[1].Params.(op.Shuffle).Epoch != 0 {
		t.Errorf("%v: the third epoch is %+v", err, again)
	}
	b, err := f.JSON()
	if want := `"epoch":[{"at":["nodes","in","with","path"],"text":"d $${x} ${epoch}"},{"at":["nodes","mixed","with","epoch"],"text":"${epoch}"}]`; err != nil || !strings.Contains(string(b), want) {
		t.Errorf("%v: no %s in %s", err, want, b)
	}
	set, err := flow.Parse("flow.yaml", []byte(text), map[string]string{"epoch": "2"})
	if err != nil {
		t.Fatal(err)
	}
	if is, _ := written(t, set); strings.Contains(is, "epoch}") || !strings.Contains(is, "epoch: 2") {
		t.Errorf("a given epoch is lost:\n%s", is)
	}
	switched := parsed(t, strings.Replace(text, "seed: 0", "seed: {switch: \"${epoch}\", cases: {0: 1}}", 1))
	if _, err := switched.YAML(); err == nil || !strings.Contains(err.Error(), "--set epoch=N") {
		t.Errorf("a switch is written: %v", err)
	}
}
