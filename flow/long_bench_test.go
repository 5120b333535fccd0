package flow_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/flow/lint"

	_ "github.com/larder-data/larder/format/text"
)

// long has flows of about n nodes, which take about n times as long as one node.
var long = []struct {
	name  string
	nodes func(n int) string
}{
	{"slices", chain("op: slice, with: {start: 0}")},
	{"mixed", chain("op: shuffle", "op: reverse", "op: slice, with: {start: 0}", "op: repeat, with: {times: 1}", "op: clone")},
	{"maps", chain("map: compute, with: {set: {x: 1+1}}")},
	{"caches", chain("map: compute, with: {set: {x: 1+1}}, cache: {policy: opt, size: 3}", "op: reverse")},
	{"branches", func(n int) string {
		var b, names strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "  n%d: {op: reverse, from: in}\n", i)
			fmt.Fprintf(&names, "n%d, ", i)
		}
		return fmt.Sprintf("%s  last: {op: cat, from: [%s]}\n", &b, &names)
	}},
	{"diamonds", func(n int) string {
		var b strings.Builder
		before := "in"
		for i := range n / 4 {
			fmt.Fprintf(&b, "  a%d: {op: reverse, from: %s}\n  b%d: {op: clone, from: %s}\n  c%d: {op: cat, from: [a%d, b%d]}\n  d%d: {op: slice, from: c%d, with: {stop: 3}}\n",
				i, before, i, before, i, i, i, i, i)
			before = fmt.Sprintf("d%d", i)
		}
		return fmt.Sprintf("%s  last: {op: clone, from: %s}\n", &b, before)
	}},
}

// chain returns a flow of nodes that read one another, using the given nodes in turn.
func chain(kinds ...string) func(n int) string {
	return func(n int) string {
		var b strings.Builder
		before := "in"
		for i := range n {
			fmt.Fprintf(&b, "  n%d: {from: %s, %s}\n", i, before, kinds[i%len(kinds)])
			before = fmt.Sprintf("n%d", i)
		}
		return fmt.Sprintf("%s  last: {op: clone, from: %s}\n", &b, before)
	}
}

// writeLong writes a flow into its own directory, and returns its file.
func writeLong(tb testing.TB, nodes string) string {
	tb.Helper()
	dir := tb.TempDir()
	text := "version: 1\nnodes:\n  in: {source: text, with: {path: rows.txt}}\n" + nodes + "  out: {sink: text, from: last, with: {path: out.txt, overwrite: replace}}\n"
	for name, content := range map[string]string{"rows.txt": "a\nb\nc\n", "flow.yaml": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			tb.Fatal(err)
		}
	}
	return filepath.Join(dir, "flow.yaml")
}

func parseLong(tb testing.TB, file string) *flow.Flow {
	tb.Helper()
	content, err := flow.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	f, err := flow.Parse(file, content, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// BenchmarkLong reads, lints, plans and runs flows of up to 10 000 nodes. The time per node
// should be about constant.
func BenchmarkLong(b *testing.B) {
	for _, l := range long {
		for _, n := range []int{250, 1000, 10_000} {
			b.Run(fmt.Sprintf("%s-%d", l.name, n), func(b *testing.B) {
				file := writeLong(b, l.nodes(n))
				for b.Loop() {
					f := parseLong(b, file)
					lint.Check(b.Context(), f, lint.Options{})
					if _, err := f.Plan(b.Context(), flow.RunOptions{}); err != nil {
						b.Fatal(err)
					}
					if _, err := f.Run(b.Context(), flow.RunOptions{}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/node")
			})
		}
	}
}
