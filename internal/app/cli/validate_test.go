package cli_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/mapper/schema"
)

// init adds the case of the mapper validate to TestEveryComponent.
func init() {
	schema, err := filepath.Abs("testdata/letters-schema.yaml") // it runs in another directory
	if err != nil {
		panic(err)
	}
	mappers["validate"] = oneComponent{line: "--schema '" + schema + "'", check: func(in, out written) {
		out.has(alphabet)
		if got, want := out.files("data/*"), in.files("data/*"); !slices.Equal(got, want) {
			out.Errorf("wrote %q, want %q", got, want)
		}
	}}
}

func TestValidate(t *testing.T) {
	b := newBench(t)
	r := b.larder("validate", "data", "--infer")
	if r.status != 0 {
		t.Fatalf("status %d: %s", r.status, r.stderr)
	}
	mustContain(t, "the schema", r.stdout, "image:", "width: {min: 32, max: 32}", "shared: true", "letter:")
	b.write("schema.yaml", r.stdout)
	if r := b.larder("validate", "underfolder:data", "--schema", "schema.yaml"); r.status != 0 || r.stdout != "" || !strings.Contains(r.stderr, "26 samples, no violations") {
		t.Errorf("status %d: %s%s", r.status, r.stdout, r.stderr)
	}

	b.write("schema.yaml", strings.ReplaceAll(r.stdout, "channels: [3]", "channels: [1]"))
	r = b.larder("validate", "data", "--schema", "schema.yaml", "--first", "3", "--limit", "2")
	if r.status != 1 || strings.Count(r.stdout, "\n") != 2 {
		t.Errorf("status %d: %s", r.status, r.stdout)
	}
	mustContain(t, "what is wrong", r.stdout, "sample 0: item image: has 3 channels, want 1", "sample 1: ")
	mustContain(t, "the summary", r.stderr, "3 of 3 samples violate the schema; 1 more are not listed")
	var report schema.Report
	r = b.larder("validate", "data", "--schema", "schema.yaml", "--json")
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || r.status != 1 || report.Bad != 26 {
		t.Errorf("status %d: %+v, %v", r.status, report, err)
	}
}

func TestValidateNode(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", statsFlow)
	b.write("schema.yaml", "version: 1\nitems: {stats: {kind: document, schema: {properties: {width: {const: 32}}}}}")
	if r := b.larder("validate", "flow.yaml", "stats", "--schema", "schema.yaml"); r.status != 0 {
		t.Errorf("status %d: %s%s", r.status, r.stdout, r.stderr)
	}
	r := b.larder("validate", "flow.yaml", "letters", "--schema", "schema.yaml")
	if r.status != 1 {
		t.Errorf("status %d: %s", r.status, r.stderr)
	}
	mustContain(t, "what is wrong", r.stdout, "sample 25: item stats: missing")
}

func TestValidateRefuses(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", statsFlow)
	b.write("schema.yaml", "version: 1")
	b.write("bad.yaml", "version: 2")
	for _, args := range [][]string{
		{"data"}, {"data", "--schema", "missing.yaml"}, {"data", "--schema", "bad.yaml"}, {"data", "--schema", "schema.yaml", "--infer"},
		{"flow.yaml", "sttas", "--infer"}, {"flow.yaml", "out", "--infer"}, {"nonsense:data", "--infer"}, {"data", "--infer", "--first", "-1"}, {"--infer"},
	} {
		if r := b.larder(append([]string{"validate"}, args...)...); r.status != 2 || r.stderr == "" {
			t.Errorf("%q: status %d, want 2: %s", args, r.status, r.stderr)
		}
	}
	if r := b.larder("validate", "missing", "--infer"); r.status != 1 {
		t.Errorf("a directory that is not there: status %d, want 1: %s", r.status, r.stderr)
	}
}

// TestValidateInAFlow checks that the mapper stops a run at the first invalid sample, and
// caches the valid ones.
func TestValidateInAFlow(t *testing.T) {
	b := newBench(t)
	b.write("schema.yaml", "version: 1\nitems: {image: {kind: image, width: {max: 32}}}")
	b.write("flow.yaml", `
version: 1
nodes:
  letters: {source: underfolder, with: {path: data}}
  right: {map: validate, from: letters, with: {schema: schema.yaml}, keep: true}
  out: {sink: underfolder, from: right, with: {path: out, overwrite: replace}}
`)
	if n := b.run().node(t, "right"); n.Computed != 26 {
		t.Errorf("%d checked", n.Computed)
	}
	if n := b.run().node(t, "right"); n.Computed != 0 {
		t.Errorf("%d checked again", n.Computed)
	}
	b.write("schema.yaml", "version: 1\nitems: {image: {kind: image, width: {max: 31}}}")
	r := b.larder("run", "flow.yaml", "--workers", "1")
	if r.status != 1 {
		t.Errorf("status %d", r.status)
	}
	mustContain(t, "the error", r.stderr, "node right: sample 0: violates the schema: item image: width is 32")
}
