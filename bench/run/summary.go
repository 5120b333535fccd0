package main

import (
	"fmt"
	"strings"
)

// A comparison is a line of the short table in the README.
type comparison struct {
	what   string
	row    string
	n      int // 0 for the row's only size
	figure string
	main   string
	others []string
}

var comparisons = []comparison{
	{"hit of a tiny result, in the next process", "hit", 0, "warm", "Larder, on disk", []string{"diskcache", "evalcache", "joblib"}},
	{"hit of an array of 1 MiB", "result", 0, "warm", "Larder, on disk, array", []string{"evalcache", "joblib", "diskcache"}},
	{"chain of 1000 nodes, nothing changed", "chain", 0, "warm", "Larder lazy, on disk", []string{"evalcache, recursion limit raised", "diskcache", "joblib"}},
	{"8 processes make the same 200 calls: executions", "stampede", 0, "executions", "Larder, on disk", []string{"joblib", "evalcache", "diskcache"}},
	{"10 000 images of which 100 changed: computed again", "incremental", 0, "changed_executions", "Larder flow, 1 worker", []string{"diskcache", "joblib", "datasets"}},
	{"the same: time", "incremental", 0, "changed", "Larder flow, 1 worker", []string{"diskcache", "joblib", "datasets"}},
	{"100 000 values of 4 KiB: put one", "store", 0, "put", "Larder", []string{"bbolt, 1000 a transaction", "badger", "SQLite"}},
	{"opening a store of a million values", "records", 1_000_000, "open", "Larder", []string{"badger", "pebble"}},
}

// summary returns the short table.
func summary(r Results) string {
	var b strings.Builder
	b.WriteString("| | Larder | Others |\n| --- | ---: | --- |\n")
	for _, c := range comparisons {
		if line, ok := c.line(r); ok {
			b.WriteString(line)
		}
	}
	return b.String()
}

// line returns the line of the table; ok is false if Larder was not measured.
func (c comparison) line(r Results) (line string, ok bool) {
	kind := c.kind()
	ours, ok := r.of(c.row, c.main, c.n, c.figure)
	var others []string
	for _, name := range c.others {
		if s, ok := r.of(c.row, name, c.n, c.figure); ok {
			short, _, _ := strings.Cut(name, ",")
			others = append(others, short+" "+kind.write(s.Median))
		}
	}
	return fmt.Sprintf("| %s | %s | %s |\n", c.what, kind.write(ours.Median), strings.Join(others, ", ")), ok
}

func (c comparison) kind() Kind {
	for _, row := range rows {
		for _, col := range row.Columns {
			if row.Name == c.row && col.Figure == c.figure {
				return col.Kind
			}
		}
	}
	return Time
}
