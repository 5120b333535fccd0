package cli_test

import (
	"os"
	"strings"
	"testing"
)

func TestDraw(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", statsFlow)
	for file, start := range map[string]string{"flow.svg": "<svg ", "flow.dot": "digraph ", "flow.mmd": "flowchart LR\n"} {
		if r := b.larder("draw", "flow.yaml", "-o", file); r.status != 0 || r.stdout != "" {
			t.Fatalf("%s: status %d, stdout %q: %s", file, r.status, r.stdout, r.stderr)
		}
		content, err := os.ReadFile(b.path(file))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(content), start) {
			t.Errorf("%s starts with %.40q", file, content)
		}
		_, format, _ := strings.Cut(file, ".")
		if r := b.larder("draw", "flow.yaml", "-o", "-", "--format", format); r.stdout != string(content) {
			t.Errorf("%s on stdout differs from the file", format)
		}
	}
	if _, err := os.Stat(b.cache); !os.IsNotExist(err) {
		t.Error("draw opened the cache")
	}
}

func TestDrawShowsAReport(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", statsFlow)
	if r := b.larder("run", "flow.yaml", "--report", "report.json"); r.status != 0 {
		t.Fatal(r.stderr)
	}
	r := b.larder("draw", "flow.yaml", "-o", "-", "--format", "svg", "--report", "report.json")
	mustContain(t, "the picture", r.stdout, "26 samples", "26 computed", "0% hits")
	b.write("other.yaml", statsFlow)
	if r := b.larder("draw", "other.yaml", "-o", "-", "--format", "svg", "--report", "report.json"); r.status != 2 {
		t.Errorf("the report of another flow: status %d, want 2: %s", r.status, r.stderr)
	}
}

func TestDrawOnly(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", statsFlow)
	r := b.larder("draw", "flow.yaml", "-o", "-", "--format", "mmd", "--only", "letters")
	if n := strings.Count(r.stdout, ":::"); n != 1 {
		t.Errorf("%d nodes, want 1: %s%s", n, r.stdout, r.stderr)
	}
}

func TestDrawWrongArguments(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", statsFlow)
	b.write("bad.json", "{")
	b.write("new.json", `{"version": 2}`)
	for want, args := range map[string][]string{
		"-o, --output is required; usage: larder draw FLOW": {},
		"--format":                             {"-o", "-"},
		`format "png"`:                         {"-o", "flow.png"},
		"unknown extension":                    {"-o", "flow"},
		`unknown node "lettres"`:               {"-o", "f.svg", "--only", "lettres"},
		"no variable":                          {"-o", "f.svg", "--set", "x=1"},
		"report bad.json":                      {"-o", "f.svg", "--report", "bad.json"},
		"version 2":                            {"-o", "f.svg", "--report", "new.json"},
		"no such file or directory":            {"-o", "f.svg", "--report", "none.json"},
		"unexpected argument \"another.yaml\"": {"-o", "f.svg", "another.yaml"},
		"draw: there is no flag --large":       {"-o", "f.svg", "--large"},
		"no directory":                         {"-o", "no/such/directory/f.svg"},
	} {
		r := b.larder(append([]string{"draw", "flow.yaml"}, args...)...)
		if r.status != 2 || !strings.Contains(r.stderr, want) {
			t.Errorf("%q: status %d, want 2 and %q: %s", args, r.status, want, r.stderr)
		}
		if _, err := os.Stat(b.path("f.svg")); err == nil {
			t.Fatalf("%q: a file was written", args)
		}
	}
}
