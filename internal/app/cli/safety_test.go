package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/larder-data/larder/internal/testing/testrand"
)

// TestReplaceBehindLinks reads a dataset of links, and writes part of it over the dataset
// to which the links lead.
func TestReplaceBehindLinks(t *testing.T) {
	b := newBench(t)
	if r := b.larder("op", "clone", "-i", "data", "-o", "links,copy=symbolic-link"); r.status != 0 {
		t.Fatal(r.stderr)
	}
	before := tree(t, b.dir)
	for _, overwrite := range []string{"replace", "new-files", "overwrite-files"} {
		for _, stop := range []string{"5", "0"} { // without samples, no item tells its location
			r := b.larder("op", "slice", "--stop", stop, "-i", "links", "-o", "data,overwrite="+overwrite)
			if r.status != 2 {
				t.Errorf("%s: status %d, want 2", overwrite, r.status)
			}
			mustContain(t, "the error", r.stderr, b.path("data"), b.path("links"), "refusing to write")
			sameTree(t, "the directory", tree(t, b.dir), before)
		}
	}
}

const scriptFlow = `
version: 1
vars: {to: out}
include: more.yaml
nodes:
  size:
    map: exec
    from: letters
    with: {command: [sh, size.sh], items: [image], into: [size], env: [EXECUTIONS, MODEL], code: [weights.bin]}
  out: {sink: SINK, from: size, with: {path: "${to}", overwrite: replace}}
`

// TestInputsAreNotWritten checks that all flags refuse an input of the flow as output,
// before anything runs, with both names in the error.
func TestInputsAreNotWritten(t *testing.T) {
	testrand.Long(t)
	for _, c := range []struct {
		args  string // after the flow
		to    string // of the sink; out if empty
		reads string // the input that the error names
	}{
		{to: "size.sh"}, {to: "weights.bin"}, {to: "flow.yaml"}, {to: "more.yaml"}, {to: "data/data/00_image.jpeg", reads: "data"},
		{to: "latest", reads: "flow.yaml"}, {to: "model.bin"}, {to: ".", reads: "flow.yaml"},
		{args: "--vars vars.yaml", to: "vars.yaml"},
		{args: "--report flow.yaml"}, {args: "--report more.yaml"}, {args: "--report size.sh"}, {args: "--report latest", reads: "flow.yaml"},
		{args: "--report data/report.json", reads: "data"}, {args: "--vars vars.yaml --report vars.yaml"},
		{args: "--events weights.bin"}, {args: "--events model.bin"}, {args: "--trace-orders data/orders", reads: "data"},
		{args: "--events same.json --report same.json"}, {args: "--report out"},
		{args: "--cache data/cache", reads: "data"}, {args: "--report CACHE/FORMAT"}, {to: "CACHE/out"},
		{args: "--cache .", reads: "."},
		{args: "--cache ../within/../cache", reads: "data"}, {args: "--report ../within/../report.json", reads: "data"},
	} {
		for _, sink := range []string{"underfolder", "csv", "jsonl"} {
			if c.to == "" && sink != "csv" || c.to == "." && sink != "underfolder" {
				continue
			}
			t.Run(fmt.Sprint(sink, " ", c.args, " ", c.to), func(t *testing.T) {
				b := newBench(t)
				b.write("flow.yaml", strings.Replace(scriptFlow, "SINK", sink, 1))
				b.write("more.yaml", "version: 1\nnodes:\n  letters: {source: underfolder, with: {path: data}}\n")
				b.write("size.sh", `echo >> "$EXECUTIONS"; wc -c < "$LARDER_IN/image.jpeg" > "$LARDER_OUT/size.txt"`)
				b.write("vars.yaml", "to: vars.yaml\n")
				for _, name := range []string{"weights.bin", "model.bin"} {
					b.write(name, "1")
				}
				if err := os.Symlink("flow.yaml", b.path("latest")); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(b.path("data/data"), b.path("../within")); err != nil {
					t.Fatal(err)
				}
				t.Setenv("MODEL", b.path("model.bin"))
				before := tree(t, b.dir)
				args := append([]string{"run", "flow.yaml"}, strings.Fields(strings.ReplaceAll(c.args, "CACHE", b.cache))...)
				if c.to != "" && !strings.HasPrefix(c.args, "--vars") {
					args = append(args, "--set", "to="+strings.ReplaceAll(c.to, "CACHE", b.cache))
				}
				r := b.larder(args...)
				if r.status != 2 {
					t.Errorf("status %d, want 2", r.status)
				}
				if c.reads != "" {
					mustContain(t, "the error", r.stderr, b.path(c.reads))
				}
				if n := b.executions(); n != 0 {
					t.Errorf("%d executions", n)
				}
				sameTree(t, "the directory", tree(t, b.dir), before)
			})
		}
	}
}

// TestOtherCommandsDoNotWriteWhatTheyRead checks the same for other commands.
func TestOtherCommandsDoNotWriteWhatTheyRead(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", statsFlow)
	b.write("report.json", b.larder("run", "flow.yaml", "--report", "-").stdout)
	b.write("vars.yaml", "{}\n")
	b.write("orders", "1\n2\n")
	b.write("pkg/main.go", "package main\n\nfunc main() {}\n")
	before := tree(t, b.dir)
	cached := tree(t, b.cache)
	for _, line := range []string{
		"draw flow.yaml --format svg -o flow.yaml",
		"draw flow.yaml --format svg -o report.json --report report.json",
		"draw flow.yaml --format svg -o vars.yaml --vars vars.yaml",
		"draw flow.yaml --format svg -o data/data/00_image.jpeg",
		"simulate --trace orders --svg orders",
		"verify --generate pkg -o pkg/main.go",
		"export -o " + filepath.Join(b.cache, "FORMAT"),
		"export -o " + filepath.Join(b.cache, "new"),
		"import --cache . report.json",
		"gc --cache data",
		"clear --all --cache .",
		"validate data --infer --cache data/cache",
		"op clone -i data -o new --cache new/cache",
	} {
		if r := b.larder(strings.Fields(line)...); r.status != 2 {
			t.Errorf("larder %s: status %d, want 2: %s", line, r.status, r.stderr)
		}
		sameTree(t, line, tree(t, b.dir), before)
	}
	now := tree(t, b.cache)
	for name, content := range cached {
		if now[name] != content && !strings.HasPrefix(name, "touch") {
			t.Errorf("%s in the cache differs", name)
		}
	}
}

// TestFilesWithOtherNames checks that a hard link keeps its content when the other name is
// written, and that nothing is appended to it.
func TestFilesWithOtherNames(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", statsFlow)
	b.write("precious", "mine")
	for _, name := range []string{"report.json", "events", "drawing.svg", "traces/letters.trace"} {
		b.write(name+".x", "") // creates the directory
		if err := os.Link(b.path("precious"), b.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	r := b.larder("run", "flow.yaml", "--events", "events")
	if r.status != 2 || !strings.Contains(r.stderr, "has a hard link") {
		t.Errorf("events: status %d, want 2: %s", r.status, r.stderr)
	}
	for _, line := range []string{"run flow.yaml --report report.json --trace-orders traces", "draw flow.yaml -o drawing.svg"} {
		if r := b.larder(strings.Fields(line)...); r.status != 0 {
			t.Errorf("larder %s: %s", line, r.stderr)
		}
	}
	if got := readFile(t, b.path("precious")); string(got) != "mine" {
		t.Errorf("the file has %q", got)
	}
	for _, name := range []string{"report.json", "drawing.svg", "traces/letters.trace"} {
		if got := readFile(t, b.path(name)); string(got) == "mine" {
			t.Errorf("%s was not written", name)
		}
	}
}
