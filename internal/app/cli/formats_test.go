package cli_test

import (
	"os"
	"testing"
)

// TestFormatsInAFlow converts rows of a table to lines, and writes the files that they name
// to a directory.
func TestFormatsInAFlow(t *testing.T) {
	b := newBench(t)
	b.write("table.csv", "path,letter,size\ndata/data/00_image.jpeg,a,32\ndata/data/01_image.jpeg,b,\n")
	b.write("flow.yaml", `
version: 1
nodes:
  table: {source: csv, with: {path: table.csv, types: {size: int}, files: {image: path}}}
  lines: {sink: jsonl, from: table, with: {path: out/lines.jsonl, files: {image: image}, overwrite: replace}}
  named: {map: drop-keys, from: table, with: {keys: [image]}}
  back: {sink: csv, from: named, with: {path: out/table.csv, overwrite: replace}}
  dir: {sink: underfolder, from: table, with: {path: out/dir, copy: symbolic-link, overwrite: replace}}
`)
	for range 2 {
		b.run()
		if got, want := string(readFile(t, b.path("out/lines.jsonl"))), `{"path":"data/data/00_image.jpeg","letter":"a","size":32,"image":"../data/data/00_image.jpeg"}
{"path":"data/data/01_image.jpeg","letter":"b","size":null,"image":"../data/data/01_image.jpeg"}
`; got != want {
			t.Errorf("the lines are\n%s", got)
		}
		if got, want := string(readFile(t, b.path("out/table.csv"))), string(readFile(t, b.path("table.csv"))); got != want {
			t.Errorf("the table is\n%s", got)
		}
		if to, err := os.Readlink(b.path("out/dir/data/1_image.jpeg")); err != nil || to != b.path("data/data/01_image.jpeg") {
			t.Errorf("the link is to %s, %v", to, err)
		}
	}
	b.write("flow.yaml", `
version: 1
nodes:
  lines: {source: jsonl, with: {path: out/lines.jsonl, files: {image: image}, outside: true}}
  stats: {map: image-stats, from: lines}
  dir: {sink: underfolder, from: stats, with: {path: out/stats}}
`)
	b.run()
	mustContain(t, "the statistics", string(readFile(t, b.path("out/stats/data/1_stats.json"))), `"width":32`)
}
