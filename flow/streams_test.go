package flow_test

import (
	"archive/tar"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/store/memory"

	_ "github.com/larder-data/larder/format/csv"
	_ "github.com/larder-data/larder/format/jsonl"
	_ "github.com/larder-data/larder/format/text"
	_ "github.com/larder-data/larder/format/webdataset"
)

// textOf returns a string with characters that formats must escape.
func textOf(r *rand.Rand, pieces ...string) string {
	var b strings.Builder
	for range r.IntN(5) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// writtenFiles has files of n samples with the item text, and in some formats n, by source.
func writtenFiles(t *testing.T, r *rand.Rand, n int) map[string][]byte {
	all := map[string][]byte{}
	var lines, objects, table, archive bytes.Buffer
	lines.WriteString([]string{"", "\ufeff"}[r.IntN(2)])
	rows, members := csv.NewWriter(&table), tar.NewWriter(&archive)
	if err := rows.Write([]string{"text", "n"}); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		text := textOf(r, "a", "ü", " ", `"`, ",", "\t", "bc")
		lines.WriteString(text + []string{"\n", "\r\n"}[r.IntN(2)])
		b, _ := json.Marshal(map[string]any{"n": i, "text": text + textOf(r, "\n", "x")})
		objects.WriteString(string(b) + []string{"\n", "\n\n", "\r\n", " \n"}[r.IntN(4)])
		if err := rows.Write([]string{text + textOf(r, "\n", "x"), fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
		for _, ext := range []string{"text.txt", "n.json", "more.bin"}[:2+r.IntN(2)] {
			content := map[string]string{"text.txt": text, "n.json": fmt.Sprint(i), "more.bin": "\x00\x01"}[ext]
			if err := members.WriteHeader(&tar.Header{Name: fmt.Sprintf("in/%04d.%s", i, ext), Mode: 0o600, Size: int64(len(content))}); err != nil {
				t.Fatal(err)
			}
			if _, err := members.Write([]byte(content)); err != nil {
				t.Fatal(err)
			}
		}
	}
	rows.Flush()
	if err := members.Close(); err != nil {
		t.Fatal(err)
	}
	all["text"], all["jsonl"], all["csv"], all["webdataset"] = lines.Bytes(), objects.Bytes(), table.Bytes(), archive.Bytes()
	return all
}

// streaming has ways to apply each operator that accepts streams, and some mappers, to
// samples with an item text.
var streaming = []string{
	"op: clone", "op: slice, with: {start: 2, stop: 11, step: 3}", "op: slice, with: {stop: 5}", "op: shard, with: {rank: 1, world-size: 3}",
	"op: enumerate, with: {into: e%d}", "op: filter, with: {where: 'text < \"b\"'}", "op: filter, with: {where: 'text < \"b\"', negate: true, keep-length: true}",
	"op: unbatch, with: {items: [l%d]}", "map: hash, with: {items: [text], into: h%d}", "map: compute, with: {set: {c%d: 'text + \"!\"'}}", "map: duplicate, with: {item: text, into: d%d}",
}

// samplesOf returns all items of the samples of a node, as bytes.
func samplesOf(t *testing.T, f *flow.Flow, node string) (all []string) {
	t.Helper()
	d, err := f.Open(t.Context(), node, flow.RunOptions{Larder: newLarder(t, memory.New(memory.Options{}))})
	if err != nil {
		t.Fatal(err)
	}
	for s, err := range dataset.All(t.Context(), d.Parts[0]) {
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for field := range s.Fields() {
			ext, err := field.Item.Ext(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			content, err := field.Item.Bytes(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s.%s=%q ", field.Key, ext, content)
		}
		all = append(all, b.String())
	}
	return all
}

// besides writes files and parses a flow of nodes next to them.
func besides(t *testing.T, nodes string, files map[string][]byte) *flow.Flow {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	f, err := flow.Parse(filepath.Join(dir, "flow.yaml"), []byte("version: 1\nnodes:\n"+nodes), nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, nodes)
	}
	return f
}

// TestStreamsAreWhatDatasetsAre checks that operators and mappers return the same for a
// file read as a stream and for an indexed one.
func TestStreamsAreWhatDatasetsAre(t *testing.T) {
	random := testrand.New(t)
	tried := map[string]bool{}
	for range testrand.Rounds(25, 250) {
		for format, content := range writtenFiles(t, random, random.IntN(30)) {
			ds, st := "d", "s"
			nodes := fmt.Sprintf("  d: {source: %s, with: {path: in}}\n  s: {source: %s, with: {path: in, stream: true}}\n", format, format)
			for k := range random.IntN(4) {
				what := streaming[random.IntN(len(streaming))]
				tried[what] = true
				what = strings.ReplaceAll(what, "%d", fmt.Sprint(k))
				if strings.Contains(what, "unbatch") {
					set := fmt.Sprintf("map: compute, with: {set: {l%d: '[text, \"x\"]'}}", k)
					nodes += fmt.Sprintf("  d%dl: {%s, from: %s}\n  s%dl: {%s, from: %s}\n", k, set, ds, k, set, st)
					ds, st = fmt.Sprintf("d%dl", k), fmt.Sprintf("s%dl", k)
				}
				nodes += fmt.Sprintf("  d%d: {%s, from: %s}\n  s%d: {%s, from: %s}\n", k, what, ds, k, what, st)
				ds, st = fmt.Sprint("d", k), fmt.Sprint("s", k)
				if strings.Contains(what, "keep-length") {
					break // text may be missing
				}
			}
			f := besides(t, nodes+fmt.Sprintf("  all: {op: materialise, from: %s}\n", st), map[string][]byte{"in": content})
			if got, want := samplesOf(t, f, "all"), samplesOf(t, f, ds); !slices.Equal(got, want) {
				t.Fatalf("%q of %s\n%s\nare as a stream\n%s\nand else\n%s", content, format, nodes, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
	if len(tried) < len(streaming) {
		t.Errorf("only %d of %d are tried", len(tried), len(streaming))
	}
}

// TestStreamsAreJoined checks that several streams and a dataset are joined as datasets
// are.
func TestStreamsAreJoined(t *testing.T) {
	for _, op := range []string{"cat", "interleave"} {
		nodes := ""
		for _, kind := range []string{"d", "s"} {
			for i, rows := range []string{"one", "two"} {
				nodes += fmt.Sprintf("  %s%d: {source: text, with: {path: %s, stream: %v}}\n", kind, i, rows, kind == "s" && i == 0)
			}
			nodes += fmt.Sprintf("  %s: {op: %s, from: [%s0, %s1]}\n", kind, op, kind, kind)
		}
		f := besides(t, nodes+"  all: {op: materialise, from: s}\n", map[string][]byte{"one": []byte("a\nb\nc\n"), "two": []byte("x\n")})
		if got, want := samplesOf(t, f, "all"), samplesOf(t, f, "d"); !slices.Equal(got, want) || len(got) != 4 {
			t.Errorf("%s: %q instead of %q", op, got, want)
		}
	}
}

// TestShuffledStream checks that a shuffle within a buffer returns each sample once, in
// another order, the same each time.
func TestShuffledStream(t *testing.T) {
	var rows strings.Builder
	for i := range 500 {
		fmt.Fprintln(&rows, i)
	}
	f := besides(t, "  s: {source: text, with: {path: in, stream: true}}\n  m: {op: shuffle, from: s, with: {buffer: 50, seed: 3}}\n  all: {op: materialise, from: m}\n  d: {source: text, with: {path: in}}\n", map[string][]byte{"in": []byte(rows.String())})
	got, again, want := samplesOf(t, f, "all"), samplesOf(t, f, "all"), samplesOf(t, f, "d")
	if !slices.Equal(got, again) || slices.Equal(got, want) {
		t.Error("it is not shuffled, or each time in another way")
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Error("some samples are missing or there twice")
	}
}

// TestMaterialisedOnce checks that only a changed file or changed nodes are computed again.
// Sources that cannot be read again are read by each run, or cached under a key.
func TestMaterialisedOnce(t *testing.T) {
	const nodes = `
  feed: {source: jsonl, with: {path: PATH, stream: true}}
  twice: {map: compute, from: feed, with: {set: {m: "n * 2"}}}
  all: {op: materialise, from: twice KEY}
  out: {sink: jsonl, from: all, with: {path: out.jsonl, overwrite: replace}}
`
	dir, store := t.TempDir(), memory.New(memory.Options{})
	run := func(path, key, replace, stdin string) (computed, read int64, out string) {
		t.Helper()
		text := strings.NewReplacer("PATH", path, "KEY", key, "n * 2", "n * "+replace).Replace(nodes)
		f, err := flow.Parse(filepath.Join(dir, "flow.yaml"), []byte("version: 1\nnodes:"+text), nil)
		if err != nil {
			t.Fatal(err)
		}
		report, err := f.Run(t.Context(), flow.RunOptions{Larder: newLarder(t, store), Stdin: &component.Input{Reader: strings.NewReader(stdin)}})
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, "out.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return node(t, report, "twice").Computed, node(t, report, "feed").Samples, string(b)
	}
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "in.jsonl"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"n":1}` + "\n" + `{"n":2}` + "\n")
	const keyed = ", with: {key: today}"
	for i, c := range []struct {
		path, key, by, stdin string
		edit                 string // of the earlier file
		computed             int64
		want                 string
	}{
		{"in.jsonl", "", "2", "", "", 2, `{"n":1,"m":2}{"n":2,"m":4}`},
		{"in.jsonl", "", "2", "", "", 0, `{"n":1,"m":2}{"n":2,"m":4}`},
		{"in.jsonl", "", "3", "", "", 2, `{"n":1,"m":3}{"n":2,"m":6}`},
		{"in.jsonl", "", "2", "", `{"n":1}` + "\n" + `{"n":3}` + "\n", 2, `{"n":1,"m":2}{"n":3,"m":6}`},
		{"'-'", "", "2", `{"n":5}`, "", 1, `{"n":5,"m":10}`},
		{"'-'", "", "2", `{"n":6}`, "", 1, `{"n":6,"m":12}`},
		{"'-'", keyed, "2", `{"n":7}`, "", 1, `{"n":7,"m":14}`},
		{"'-'", keyed, "2", `{"n":8}`, "", 0, `{"n":7,"m":14}`},
		{"'-'", keyed, "3", `{"n":8}`, "", 1, `{"n":8,"m":24}`},
	} {
		if c.edit != "" {
			write(c.edit)
		}
		computed, read, out := run(c.path, c.key, c.by, c.stdin)
		if out = strings.ReplaceAll(out, "\n", ""); computed != c.computed || read != c.computed || out != c.want {
			t.Errorf("run %d: %d computed of %d read, want %d: %s", i, computed, read, c.computed, out)
		}
	}
}

// TestStandardInputIsReadOnce checks that only one node can read standard input, and only
// where there is one.
func TestStandardInputIsReadOnce(t *testing.T) {
	f := besides(t, "  feed: {source: text, with: {path: '-'}}\n  all: {op: materialise, from: feed, checkpoint: true}\n", nil)
	in := &component.Input{Reader: strings.NewReader("a\nb\n")}
	for i, c := range []struct {
		in   *component.Input
		want string
	}{{nil, "standard input is not available"}, {in, ""}, {in, "already read"}} {
		report, err := f.Run(t.Context(), flow.RunOptions{Larder: newLarder(t, memory.New(memory.Options{})), Stdin: c.in})
		switch {
		case c.want == "" && (err != nil || node(t, report, "all").Samples != 2):
			t.Errorf("run %d: %v", i, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("run %d: the error is %v, not %s", i, err, c.want)
		}
	}
}

// TestWrongStreams checks that impossible uses of a stream are errors with their line
// before anything runs.
func TestWrongStreams(t *testing.T) {
	const feed = "  feed: {source: jsonl, with: {path: in, stream: true}}\n"
	for _, c := range []struct{ nodes, want string }{
		{feed + "  x: {op: sort, from: feed, with: {by: n}}\n", "4:23: op sort needs a dataset, but node feed returns a stream; add op: materialise between them"},
		{feed + "  x: {sink: jsonl, from: feed, with: {path: out}}\n", "sink jsonl needs a dataset"},
		{feed + "  a: {op: materialise, from: feed}\n  x: {op: materialise, from: feed}\n", "node feed is a stream, which node a already reads"},
		{feed + "  x: {op: interleave, from: [feed, feed]}\n", "already reads"},
		{feed + "  a: {op: materialise, from: feed}\n  x: {op: materialise, from: a}\n", "node a is already a dataset; remove node x and read a directly"},
		{feed + "  x: {op: clone, from: feed, checkpoint: true}\n", "cannot be a checkpoint"},
		{feed + "  x: {map: rename, from: feed, with: {names: {a: b}}, on-error: skip}\n", "cannot skip samples"},
		{"  x: {source: jsonl, with: {path: 'https://h/x', stream: true}}\n", "stream is not supported for a URL"},
		{"  x: {source: text, with: {path: '-', by: paragraph}}\n", "set by: line"},
		{"  x: {source: csv, with: {path: '-', file: f}}\n", "no file paths"},
	} {
		_, err := flow.Parse("flow.yaml", []byte("version: 1\nnodes:\n"+c.nodes), nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, not %s", c.nodes, err, c.want)
		}
	}
	for _, c := range []struct{ with, want string }{
		{"op: shuffle", "set buffer"},
		{"op: slice, with: {start: -3}", "no negative positions"},
		{"op: shard, with: {rank: 0, world-size: 2, rest: drop}", "needs the length of a stream"},
		{"op: interleave, with: {until: shortest}", "use until: longest"},
	} {
		f := besides(t, feed+"  x: {from: feed, "+c.with+"}\n  all: {op: materialise, from: x}\n", map[string][]byte{"in": []byte("{}")})
		_, err := f.Open(t.Context(), "all", flow.RunOptions{Larder: newLarder(t, memory.New(memory.Options{}))})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, not %s", c.with, err, c.want)
		}
	}
	f := besides(t, feed, map[string][]byte{"in": []byte("{}")})
	if _, err := f.Run(t.Context(), flow.RunOptions{Only: []string{"feed"}}); err == nil || !strings.Contains(err.Error(), "name an op: materialise") {
		t.Errorf("a stream alone: %v", err)
	}
}

// TestErrorsOfStreams checks that an error names its sample and node.
func TestErrorsOfStreams(t *testing.T) {
	f := besides(t, "  feed: {source: jsonl, with: {path: in, stream: true}}\n  big: {op: filter, from: feed, with: {where: 'n > 1'}}\n  all: {op: materialise, from: big}\n", map[string][]byte{"in": []byte("{\"n\": 2}\n{\"n\": \"x\"}\n")})
	_, err := f.Open(t.Context(), "all", flow.RunOptions{Larder: newLarder(t, memory.New(memory.Options{}))})
	if err == nil || !strings.Contains(err.Error(), "node big: sample 1") {
		t.Errorf("the error is %v", err)
	}
	f = besides(t, "  feed: {source: jsonl, with: {path: in, stream: true}}\n  all: {op: materialise, from: feed}\n", map[string][]byte{"in": []byte("{\"n\": 2}\n\n{\"n\"\n")})
	_, err = f.Open(t.Context(), "all", flow.RunOptions{Larder: newLarder(t, memory.New(memory.Options{}))})
	if err == nil || !strings.Contains(err.Error(), "in:3: ") {
		t.Errorf("the error is %v", err)
	}
}
