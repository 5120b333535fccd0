package cli_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// twoSinks writes two outputs.
func twoSinks(p, q string) string {
	return fmt.Sprintf("version: 1\nnodes:\n  letters: {source: underfolder, with: {path: data}}\n  p: {sink: %s, from: letters}\n  q: {sink: %s, from: letters}\n", p, q)
}

// TestPlacesWithinEachOther checks two sinks with the same output, or one inside the
// other's. Lint, a dry run and a run refuse them before anything is computed or written.
func TestPlacesWithinEachOther(t *testing.T) {
	for _, c := range []struct {
		p, q string
		want []string // in the error; nil if it runs
	}{
		{"underfolder, with: {path: np}", "underfolder, with: {path: np/inside}", []string{"node q would write", "np/inside", "within", "which node p writes"}},
		{"underfolder, with: {path: np/inside, overwrite: replace}", "underfolder, with: {path: np, overwrite: replace}", []string{"node p would write", "which node q writes"}},
		{"underfolder, with: {path: np}", "underfolder, with: {path: link/inside}", []string{"node q would write", "which node p writes"}},
		{"underfolder, with: {path: np}", "images, with: {path: ./np}", []string{"node p and node q would both write"}},
		{"underfolder, with: {path: np}", "jsonl, with: {path: np/rows.jsonl}", []string{"node q would write"}},
		{"underfolder, with: {path: np, overwrite: overwrite-files}", "underfolder, with: {path: np, overwrite: overwrite-files}", nil},
		{"underfolder, with: {path: np}", "underfolder, with: {path: np2}", nil},
	} {
		b := newBench(t)
		b.write("flow.yaml", twoSinks(c.p, c.q))
		if err := os.Symlink("np", b.path("link")); err != nil {
			t.Fatal(err)
		}
		for _, args := range []string{"lint flow.yaml", "run flow.yaml --dry-run", "run flow.yaml --progress none"} {
			r := b.larder(words(args)...)
			if want := ifElse(c.want == nil, 0, 2); r.status != want {
				t.Errorf("%s and %s: larder %s: status %d, want %d: %s", c.p, c.q, args, r.status, want, r.stderr)
			}
			mustContain(t, "larder "+args, r.stderr, c.want...)
			if _, err := os.Lstat(b.path("np")); c.want != nil && err == nil {
				t.Errorf("larder %s wrote something", args)
			}
		}
		if c.want != nil {
			if r := b.larder("run", "flow.yaml", "--only", "p", "--dry-run"); r.status != 0 {
				t.Errorf("p alone: status %d: %s", r.status, r.stderr)
			}
		}
	}
}

func ifElse[T any](which bool, a, b T) T {
	if which {
		return a
	}
	return b
}

// TestFilesOfARunAreCheckedBefore checks that a file that could not be written at the end
// of a run is refused before anything is computed or written.
func TestFilesOfARunAreCheckedBefore(t *testing.T) {
	for args, want := range map[string]string{
		"--summary none/s.md":                     "--summary none/s.md: no directory",
		"--report none/r.json":                    "--report none/r.json: no directory",
		"--skips none/s.jsonl":                    "--skips none/s.jsonl: no directory",
		"--events none/e.jsonl":                   "no directory",
		"--report dir":                            "--report dir: is a directory, not a file",
		"--skips dir/":                            "--skips dir/: is a directory, not a file",
		"--report new/":                           "--report new/: the path ends in /; name a file",
		"--summary file/s.md":                     "file is a file, not a directory",
		"--logs file":                             "is a file, not a directory",
		"--logs file/logs":                        "file is a file, not a directory",
		"--trace-orders file":                     "is a file, not a directory",
		"--report - --skips -":                    "--report and --skips both write to standard output",
		"--report - --skips /dev/stdout":          "both write to standard output",
		"--events -":                              "--events -: name a file",
		"--report out/r.json":                     "--report would write",
		"--summary out/s.md":                      "--summary would write",
		"--skips out/s.jsonl":                     "--skips would write",
		"--events out/e.jsonl":                    "--events would write",
		"--logs out/logs":                         "--logs would write",
		"--trace-orders out/orders":               "--trace-orders would write",
		"--report same.json --summary same.json":  "--report and --summary would both write",
		"--report same.json --events ./same.json": "would both write",
		"--logs logs --report logs":               "would both write",
		"--on-error=":                             `--on-error "" is not one of`,
	} {
		b := newBench(t)
		b.write("flow.yaml", statsFlow)
		b.write("dir/x", "")
		b.write("file", "")
		before := tree(t, b.dir)
		r := b.larder(append([]string{"run", "flow.yaml", "--progress", "none"}, words(args)...)...)
		if r.status != 2 {
			t.Errorf("%s: status %d, want 2: %s", args, r.status, r.stderr)
		}
		mustContain(t, args, r.stderr, want)
		sameTree(t, args, tree(t, b.dir), before)
	}
}

// TestFilesNextToOutputs checks that logs may contain other outputs, and that a directory
// of the run may contain files even if the run fails. The name - is a name of a directory.
func TestFilesNextToOutputs(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", strings.Replace(statsFlow, "path: out", "path: all/out", 1))
	b.must("run flow.yaml --progress none --logs all --trace-orders - --report all/report.json --skips -")
	b.at("all/out").has(alphabet)
	b.write("failing.yaml", "version: 1\nnodes:\n  letters: {source: underfolder, with: {path: none}}\n  out: {sink: underfolder, from: letters, with: {path: in/new/out}}\n")
	if r := b.larder(words("run failing.yaml --progress none --report in/new/report.json")...); r.status != 1 {
		t.Fatalf("status %d, want 1: %s", r.status, r.stderr)
	}
	mustContain(t, "the report", string(readFile(t, b.path("in/new/report.json"))), "failed")
}

// TestOtherFilesAreCheckedBefore checks the same for other commands that write files.
func TestOtherFilesAreCheckedBefore(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", statsFlow)
	b.must("run flow.yaml --progress none")
	for args, want := range map[string]string{
		"draw flow.yaml -o none/x.svg":                                    "-o none/x.svg: no directory",
		"export -o none/x.larder":                                         "-o none/x.larder: no directory",
		"export -o out":                                                   "-o out: is a directory, not a file",
		"simulate --calls 10 --svg none/x.svg":                            "--svg none/x.svg: no directory",
		"simulate --calls 10 --svg -":                                     "both write to standard output",
		"op repeat --times 2 -i data -o jsonl:- --report -":               "both write to standard output",
		"op repeat --times 2 -i data -o new --report new/r":               "--report would write",
		"op split -i data --sizes '[1, null]' -o r3 -o r3/in":             "-o r3/in would write",
		"op split -i data --sizes '[1, null]' -o jsonl:r3 -o jsonl:r3/in": "-o jsonl:r3/in would write",
		"op repeat --times 2 -i data -o new --cpuprofile none/x":          "no directory",
	} {
		r := b.larder(words(args)...)
		if r.status != 2 || r.stdout != "" {
			t.Errorf("larder %s: status %d, want 2: %s%s", args, r.status, r.stderr, r.stdout)
		}
		mustContain(t, "larder "+args, r.stderr, want)
	}
}

// TestNamesOfCompressedFiles checks that a name whose extension contradicts the compression
// parameter is an error when the flow is read.
func TestNamesOfCompressedFiles(t *testing.T) {
	b := newBench(t)
	b.write("rows.jsonl", rowsText)
	for _, format := range []string{"jsonl", "csv"} {
		for _, how := range []string{"", "none", "gzip", "zstd"} {
			for name, named := range map[string]string{"x.rows": "none", "x.gz": "gzip", "x.GZ": "gzip", "x.zst": "zstd"} {
				b.write("flow.yaml", fmt.Sprintf("version: 1\nnodes:\n  in: {source: jsonl, with: {path: rows.jsonl}}\n  out: {sink: %s, from: in, with: {path: new/%s%s}}\n",
					format, name, ifElse(how == "", "", ", compress: "+how)))
				want := ifElse(how == "" || how == named, 0, 2)
				if r := b.larder("lint", "flow.yaml"); r.status != want || want == 2 && !strings.Contains(r.stderr, "flow.yaml:4:") {
					t.Errorf("%s to %s, compressed by %q: status %d, want %d: %s", format, name, how, r.status, want, r.stderr)
				}
			}
		}
	}
	for args, want := range map[string]int{
		"op chunk --n 2 -i jsonl:rows.jsonl -o jsonl:all,compress=zstd":                     0,
		"op chunk --n 2 -i jsonl:rows.jsonl -o.0 jsonl:p.zst,compress=zstd -o.1 jsonl:q.gz": 0,
		"op chunk --n 2 -i jsonl:rows.jsonl -o.0 jsonl:new,compress=zstd -o.1 jsonl:new2":   2,
		"op repeat --times 2 -i jsonl:rows.jsonl -o csv:new/x.gz,compress=zstd":             2,
		"op repeat --times 2 -i jsonl:rows.jsonl -o csv:new/x.csv,columns=[a,,b]":           2,
		"op repeat --times 2 -i jsonl:rows.jsonl -o csv:there.csv,columns=a,columns=b":      0,
	} {
		if r := b.larder(words(args + " --progress none")...); r.status != want {
			t.Errorf("larder %s: status %d, want %d: %s", args, r.status, want, r.stderr)
		}
	}
	if _, err := os.Lstat(b.path("new")); err == nil {
		t.Error("something was written")
	}
	r := b.larder(words("op repeat --times 2 -i jsonl:rows.jsonl -o jsonl:-,compress=gzip --progress none")...)
	if r.status != 0 || !strings.HasPrefix(r.stdout, "\x1f\x8b") {
		t.Errorf("compressed to standard output: status %d: %s%.20q", r.status, r.stderr, r.stdout)
	}
}
