package cli_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestSummary checks the closing table in the format of its file name, and the report as
// Markdown. Neither overwrites an input of the flow.
func TestSummary(t *testing.T) {
	b := newBench(t)
	b.write("rows.csv", "n,word\n1,a|b\n2,c\n")
	b.write("flow.yaml", `
version: 1
nodes:
  rows: {source: csv, with: {path: rows.csv, types: {n: int}}}
  sums: {map: compute, from: rows, with: {set: {twice: 2 * n}}, keep: true}
  out: {sink: jsonl, from: sums, with: {path: out.jsonl, overwrite: replace}}
`)
	b.must("run flow.yaml --progress none --summary table.csv --report report.json")
	rows, err := csv.NewReader(strings.NewReader(string(readFile(t, b.path("table.csv"))))).ReadAll()
	if err != nil || len(rows) != 4 || rows[2][0] != "sums" || rows[2][2] != "2" || rows[0][2] != "computed" {
		t.Errorf("the table is %v, %v", rows, err)
	}
	b.must("run flow.yaml --progress none --summary table.json")
	var list []struct {
		Node     string
		Samples  int64
		Computed int64
	}
	if err := json.Unmarshal(readFile(t, b.path("table.json")), &list); err != nil || len(list) != 3 || list[1].Node != "sums" || list[1].Samples != 2 || list[1].Computed != 0 {
		t.Errorf("the table is %+v, %v", list, err)
	}
	b.must("run flow.yaml --progress none --summary table.md")
	mustContain(t, "the page", string(readFile(t, b.path("table.md"))), "## ", ": ok in ", "| sums | 2 |")
	mustContain(t, "the report", b.must("report report.json").stdout, "| sums | 2 | 2 |")

	was := string(readFile(t, b.path("rows.csv")))
	for args, want := range map[string]string{
		"run flow.yaml --summary rows.csv":  "rows.csv",
		"run flow.yaml --summary table.txt": "must end with .csv, .json or .md",
		"report rows.csv":                   "is not the report of a run",
		"report missing.json":               "missing.json: no such file or directory",
	} {
		if r := b.larder(strings.Fields(args)...); r.status != 2 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: status %d: %s", args, r.status, r.stderr)
		}
	}
	if now := string(readFile(t, b.path("rows.csv"))); now != was {
		t.Errorf("the rows are %q", now)
	}
}

// TestReadsAreNoSamples checks that the table counts a sample once however often it is read
// from memory, and shows the reads separately.
func TestReadsAreNoSamples(t *testing.T) {
	b := newBench(t)
	b.write("flow.yaml", `
version: 1
nodes:
  letters: {source: underfolder, with: {path: data}}
  stats: {map: image-stats, from: letters, cache: {policy: memo}}
  many: {op: repeat, from: stats, with: {times: 5}}
  out: {sink: underfolder, from: many, with: {path: out, overwrite: replace}}
`)
	r := b.run("--summary", "table.json")
	n := r.node(t, "stats")
	// A read that waits for the computation by another goroutine is not one from memory.
	if n.Samples != 26 || n.Computed != 26 || n.FromMemory != 26 || n.MemoryReads <= 3*26 || n.MemoryReads > 4*26 || n.FromStore != 0 || n.StoreReads != 0 {
		t.Errorf("the report says %+v, want 26 samples computed, and each read about 4 times from memory", n)
	}
	line := fmt.Sprintf("%d reads of 26 samples from memory", n.MemoryReads)
	mustContain(t, "the table", r.stderr, "\nstats: "+line+"\n")
	b.write("report.json", r.stdout)
	mustContain(t, "the page", b.must("report report.json").stdout, "- stats: "+line+"\n")
	var rows []struct {
		Node        string
		FromMemory  int64 `json:"from_memory"`
		MemoryReads int64 `json:"memory_reads"`
	}
	if err := json.Unmarshal(readFile(t, b.path("table.json")), &rows); err != nil || rows[1].Node != "stats" || rows[1].FromMemory != 26 || rows[1].MemoryReads != n.MemoryReads {
		t.Errorf("the summary is %+v, %v", rows, err)
	}
}
