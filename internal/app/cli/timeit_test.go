package cli_test

import (
	"encoding/json"
	"os"
	"testing"
)

// timing is one line of larder timeit --json.
type timing struct {
	What, Pass string
	Count      int
	Median     float64 `json:"median_seconds"`
	P95        float64 `json:"p95_seconds"`
}

func TestTimeit(t *testing.T) {
	b := newBench(t)
	b.write("up.sh", `echo >> "$EXECUTIONS"; cp "$LARDER_IN/metadata.yaml" "$LARDER_OUT/up.txt"`)
	b.write("flow.yaml", `
version: 1
vars: {keep: true}
nodes:
  letters: {source: underfolder, with: {path: data}}
  up: {map: exec, from: letters, keep: "${keep}", with: {command: [sh, up.sh], items: [metadata], into: [up], code: [up.sh], env: [EXECUTIONS]}}
  parts: {op: split, from: up, with: {sizes: {train: 20, test: 6}}}
`)
	read := func(line string) map[string]timing {
		t.Helper()
		r := b.must("timeit --json " + line)
		var all []timing
		if err := json.Unmarshal([]byte(r.stdout), &all); err != nil {
			t.Fatal(err)
		}
		by := map[string]timing{}
		for _, one := range all {
			if one.Median < 0 || one.P95 < one.Median || one.Count == 0 {
				t.Errorf("%+v", one)
			}
			by[one.What+" "+one.Pass] = one
		}
		return by
	}
	got := read("-i data --runs 3 --samples 10")
	for what, want := range map[string]int{"sample cold": 10, "sample warm": 20, "item image cold": 10, "item metadata warm": 20, "item vowels warm": 20, "opening cold": 1} {
		if got[what].Count != want {
			t.Errorf("%s was measured %d times, want %d", what, got[what].Count, want)
		}
	}
	if got := read("flow.yaml parts.test"); got["item up cold"].Count != 6 || got["item up warm"].Count != 12 {
		t.Errorf("%+v", got)
	}
	if n := b.executions(); n != 6 {
		t.Errorf("computed %d samples, want 6 in the cold pass and none in a warm one", n)
	}
	read("flow.yaml up --set keep=false --runs 2 --samples 4")
	if n := b.executions(); n != 8 {
		t.Errorf("computed %d samples, want 4 in each pass where nothing is cached", n)
	}
	if got := read("flow.yaml parts --runs 1"); len(got) == 0 || got["sample cold"].Count != 26 {
		t.Errorf("%+v", got)
	}
	if _, err := os.Lstat(b.cache); err == nil {
		t.Error("the user's cache was touched")
	}
	mustContain(t, "the table", b.must("timeit -i images:data/data").stdout, "what  pass", "item image  warm")
	mustContain(t, "the table of stages", b.must("timeit --loader --batch-size 4 -i images:data/data").stdout, "a sample", "decode jpeg  cold", "warm, 1 worker: ", " samples a second")
	var of struct {
		Stages []struct{ Stage, Pass string }
		Passes []struct{ Workers, Samples int }
	}
	if err := json.Unmarshal([]byte(b.must("timeit --loader --json --runs 3 --samples 10 flow.yaml up").stdout), &of); err != nil {
		t.Fatal(err)
	}
	ran := map[string]bool{}
	for _, s := range of.Stages {
		ran[s.Stage+", "+s.Pass] = true
	}
	if !ran["map up, cold"] || !ran["look up up, warm"] || ran["map up, warm"] || !ran["collate, warm"] {
		t.Errorf("stages %v: a cached result is made in the cold pass, and looked up after it", ran)
	}
	if n := b.executions(); n != 26+10 {
		t.Errorf("computed %d samples, want 26 of parts and 10 of up, each once", n)
	}
	if len(of.Passes) != 3 || of.Passes[0].Samples != 10 || of.Passes[2].Samples != 20 {
		t.Errorf("passes %+v", of.Passes)
	}
	for _, line := range []string{"", "flow.yaml", "flow.yaml parts -i data", "-i data --runs 0", "-i data --loader --batch-size 0", "-i data --samples 0", "flow.yaml nothing", "-i undefolder:data"} {
		if r := b.larder(words("timeit " + line)...); r.status != 2 {
			t.Errorf("larder timeit %s: status %d, want 2: %s", line, r.status, r.stderr)
		}
	}
	if r := b.larder(words("timeit -i missing")...); r.status != 1 {
		t.Errorf("a dataset that is not there: status %d, want 1: %s", r.status, r.stderr)
	}
}
