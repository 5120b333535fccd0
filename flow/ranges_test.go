package flow_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/store/disk"
	"github.com/larder-data/larder/store/memory"
)

// rangesWanted is the request to a process on its standard input.
type rangesWanted struct {
	Bundle flow.Bundle
	Store  string
	Ranges []flow.Range
}

// rangesMade is its answer on standard output.
type rangesMade struct {
	Computed map[string]int64 // by node
}

func TestMain(m *testing.M) {
	if os.Getenv("LARDER_TEST_RANGES") == "" {
		os.Exit(m.Run())
	}
	if err := makeRanges(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// makeRanges is the main function of such a process.
func makeRanges(ctx context.Context) error {
	var w rangesWanted
	if err := json.NewDecoder(os.Stdin).Decode(&w); err != nil {
		return err
	}
	f, err := w.Bundle.Flow()
	if err != nil {
		return err
	}
	s, err := disk.Open(disk.Options{Dir: w.Store})
	if err != nil {
		return err
	}
	l, err := larder.Open(larder.Options{Store: s})
	if err != nil {
		return err
	}
	h, err := f.LocalExecutor(ctx, flow.RunOptions{Larder: l})
	if err != nil {
		return err
	}
	for _, r := range w.Ranges {
		if err := h.Make(ctx, r); err != nil {
			return err
		}
	}
	made := rangesMade{Computed: map[string]int64{}}
	for _, n := range h.Report(ctx).Nodes {
		made.Computed[n.Name] = n.Computed
	}
	return errors.Join(json.NewEncoder(os.Stdout).Encode(made), l.Close(), s.Close())
}

// rangesFlow returns a flow with an include, variables, two caching nodes and one that
// splits.
func rangesFlow(t *testing.T, dir string) *flow.Flow {
	t.Helper()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var rows strings.Builder
	for i := range 500 {
		fmt.Fprintf(&rows, "{\"text\": \"row %d\"}\n", i)
	}
	write("in.jsonl", rows.String())
	if err := os.MkdirAll(filepath.Join(dir, "parts"), 0o777); err != nil {
		t.Fatal(err)
	}
	write("parts/source.yaml", "version: 1\nvars: {file: none}\nnodes:\n  rows: {source: jsonl, with: {path: '../${file}'}}\n")
	const text = `version: 1
vars: {item: text}
include: parts/source.yaml
nodes:
  hashed: {map: hash, from: rows, keep: true, with: {items: ['${item}'], into: h}}
  again: {map: hash, from: hashed, checkpoint: true, with: {items: [h], into: i}}
  mixed: {op: shuffle, from: again, with: {seed: 3}}
  halves: {op: split, from: mixed, with: {sizes: {one: 0.3, two: 0.7}}}
  last: {map: hash, from: halves, keep: true, with: {items: [i], into: j}}
  out: {sink: jsonl, from: last.two, with: {path: out.jsonl, overwrite: replace}}
`
	write("flow.yaml", text)
	f, err := flow.Parse(filepath.Join(dir, "flow.yaml"), []byte(text), map[string]string{"file": "in.jsonl"})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestRangesOfProcesses checks seven ranges of a flow that three processes without its
// files compute. They form the whole, and each sample is computed once.
func TestRangesOfProcesses(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	f := rangesFlow(t, dir)
	text, err := f.Bundle()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"flow.yaml", "parts/source.yaml"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	var wants [3]rangesWanted
	for i := range 7 {
		w := &wants[i%3]
		w.Bundle, w.Store = text, cache
		w.Ranges = append(w.Ranges,
			flow.Range{Node: "again", From: 500 * i / 7, To: 500 * (i + 1) / 7},
			flow.Range{Node: "last", Part: 1, From: 350 * i / 7, To: 350 * (i + 1) / 7})
	}
	var made [3]rangesMade
	var errs [3]chan error
	for i, w := range wants {
		errs[i] = make(chan error, 1)
		go func() { errs[i] <- startRanges(t, w, &made[i]) }()
	}
	sum := map[string]int64{}
	for i := range made {
		if err := <-errs[i]; err != nil {
			t.Fatal(err)
		}
		for node, n := range made[i].Computed {
			sum[node] += n
		}
	}
	if sum["hashed"] != 500 || sum["again"] != 500 || sum["last"] != 350 {
		t.Errorf("computed: %v; want each sample once", sum)
	}

	s, err := disk.Open(disk.Options{Dir: cache})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	l, err := larder.Open(larder.Options{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r, err := f.Run(t.Context(), flow.RunOptions{Larder: l})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range r.Nodes {
		if n.Name != "out" && n.Computed != 0 {
			t.Errorf("node %s: %d were computed after all ranges", n.Name, n.Computed)
		}
	}
	got, err := os.ReadFile(filepath.Join(dir, "out.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	whole := t.TempDir()
	if _, err := rangesFlow(t, whole).Run(t.Context(), flow.RunOptions{Larder: newLarder(t, memory.New(memory.Options{}))}); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(whole, "out.jsonl"))
	if err != nil || !bytes.Equal(got, want) || bytes.Count(got, []byte("\n")) != 350 {
		t.Errorf("made in ranges it is not what it is as a whole: %v", err)
	}
}

func startRanges(t *testing.T, w rangesWanted, made *rangesMade) error {
	in, err := json.Marshal(w)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "LARDER_TEST_RANGES=1")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	return json.Unmarshal(out, made)
}

// TestRangesThatAreNotThere checks that the error of an impossible request lists what
// exists.
func TestRangesThatAreNotThere(t *testing.T) {
	f := rangesFlow(t, t.TempDir())
	h, err := f.LocalExecutor(t.Context(), flow.RunOptions{Larder: newLarder(t, memory.New(memory.Options{}))})
	if err != nil {
		t.Fatal(err)
	}
	if lens, err := h.Lens(t.Context(), "last"); err != nil || len(lens) != 2 || lens[0] != 150 || lens[1] != 350 {
		t.Errorf("%v, %v", lens, err)
	}
	for _, c := range []struct {
		of   flow.Range
		want string
	}{
		{flow.Range{Node: "hashd"}, `unknown node "hashd"; did you mean "hashed"?`},
		{flow.Range{Node: "out"}, "node out is a sink without output; name an upstream node"},
		{flow.Range{Node: "last", Part: 2}, "node last has 2 outputs; there is no output 2"},
		{flow.Range{Node: "last", Part: -1}, "node last has 2 outputs; there is no output -1"},
		{flow.Range{Node: "again", From: 3, To: 2}, "node again has 500 samples; range 3 to 2 is invalid"},
		{flow.Range{Node: "again", From: -1}, "node again has 500 samples; range -1 to 0 is invalid"},
		{flow.Range{Node: "again", To: 501}, "node again has 500 samples; range 0 to 501 is invalid"},
	} {
		if err := h.Make(t.Context(), c.of); err == nil || err.Error() != c.want || !errors.Is(err, flow.ErrRequest) {
			t.Errorf("%+v: %v", c.of, err)
		}
	}
	if err := h.Make(t.Context(), flow.Range{Node: "again", From: 5, To: 5}); err != nil {
		t.Error(err)
	}
	for _, n := range h.Report(t.Context()).Nodes {
		if n.Computed != 0 {
			t.Errorf("node %s: %d were computed for nothing", n.Name, n.Computed)
		}
	}
}

// TestTextsThatAreNotWhole checks that an incomplete Text is an error with the missing
// file, and that a flow that was built in Go has no Text.
func TestTextsThatAreNotWhole(t *testing.T) {
	dir := t.TempDir()
	text, err := rangesFlow(t, dir).Bundle()
	if err != nil {
		t.Fatal(err)
	}
	included := filepath.Join(dir, "parts", "source.yaml")
	delete(text.Files, included)
	if _, err := text.Flow(); err == nil || !strings.Contains(err.Error(), "lacks the included file "+included) {
		t.Error(err)
	}
	delete(text.Files, text.File)
	if _, err := text.Flow(); err == nil || !strings.Contains(err.Error(), "is missing in the bundle") {
		t.Error(err)
	}
	f, err := flow.New("made", dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Bundle(); err == nil || !strings.Contains(err.Error(), "built in Go") {
		t.Error(err)
	}
}
