package cli_test

import (
	"strings"
	"testing"

	"github.com/larder-data/larder/internal/testing/pythontest"
)

// TestGeneratorsOnTheCommandLine checks that -i python:FUNCTION reads the elements of a
// function, as far as needed.
func TestGeneratorsOnTheCommandLine(t *testing.T) {
	pythontest.Need(t)
	b := newBench(t)
	b.write("gen.py", `
def rows(k=2):
    n = 0
    while True:
        yield n * k, str(n)
        n += 1
def few(): return [3, 1, 2]
`)
	if r := b.must("op slice --stop 3 -i python:gen:rows,into=n,into=t -o jsonl:- --progress none"); r.stdout != "{\"n\":0,\"t\":\"0\"}\n{\"n\":2,\"t\":\"1\"}\n{\"n\":4,\"t\":\"2\"}\n" {
		t.Errorf("printed %q", r.stdout)
	}
	if r := b.must("op sort --by n -i python:gen.py:few,into=n -o jsonl:- --progress none"); r.stdout != "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n" {
		t.Errorf("printed %q", r.stdout)
	}
	if r := b.must("map compute --set m=n+1 -i python:gen:few,into=n -o jsonl:- --progress none"); r.stdout != "{\"n\":3,\"m\":4}\n{\"n\":1,\"m\":2}\n{\"n\":2,\"m\":3}\n" {
		t.Errorf("printed %q", r.stdout)
	}
	if r := b.larder("op", "sort", "--by", "n", "-i", "python:gen", "-o", "jsonl:-"); r.status != 2 || !strings.Contains(r.stderr, "into") {
		t.Errorf("without items: status %d: %s", r.status, r.stderr)
	}
	b.write("flow.yaml", "version: 1\nnodes:\n  rows: {source: python, with: {function: 'gen:few', into: [n]}}\n  all: {op: materialise, from: rows}\n")
	b.must("draw flow.yaml -o flow.dot")
	mustContain(t, "the drawing", string(readFile(t, b.path("flow.dot"))), "dashed")
}
