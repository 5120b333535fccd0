package flow_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/store/memory"

	_ "github.com/larder-data/larder/format/images"
	_ "github.com/larder-data/larder/format/underfolder"
)

const (
	filesOfSamples = `
  in: {source: underfolder, with: {path: in}}
  hashed: {map: hash, from: in, keep: true, with: {items: [text], into: h}}
  out: {sink: underfolder, from: hashed, with: {path: out, overwrite: replace}}
`
	filesAlone = `
  in: {source: images, with: {path: in/data, ext: [txt, bin]}}
  hashed: {map: hash, from: in, keep: true, with: {items: [image], into: h}}
  out: {sink: underfolder, from: hashed, with: {path: out, overwrite: replace}}
`
	filesOfRows = `
  in: {source: jsonl, with: {path: in/rows.jsonl}}
  hashed: {map: hash, from: in, keep: true, with: {items: [text], into: h}}
  out: {sink: underfolder, from: hashed, with: {path: out, overwrite: replace}}
`
)

// filed is a flow from a directory to a directory.
type filed struct {
	*lines
	n int // samples
}

func newFiled(t *testing.T, nodes string, n int) *filed {
	f := &filed{newLines(t, nodes, 0), n}
	if err := os.MkdirAll(f.path("in/data"), 0o777); err != nil {
		t.Fatal(err)
	}
	rows := ""
	for i := range n {
		f.write(sampleName(i), fmt.Sprint("text ", i))
		rows += fmt.Sprintf("{\"text\": \"row %d\"}\n", i)
	}
	if nodes == filesOfRows {
		f.write("in/rows.jsonl", rows)
	}
	return f
}

func sampleName(i int) string {
	return fmt.Sprintf("in/data/%03d_text.txt", i)
}

// hashName returns the name of the hash of sample i of 12.
func hashName(i int) string { return fmt.Sprintf("out/data/%02d_h.json", i) }

// tree lists the files of a directory with their contents.
func (f *filed) tree(dir string) map[string]string {
	f.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[name] = fmt.Sprint(d.Type(), " ", string(b))
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return all
}

// check compares the output with that of a run with an empty cache and no output.
func (f *filed) check(after string) {
	f.t.Helper()
	got, was := f.tree(f.path("out")), f.path("was")
	if err := os.Rename(f.path("out"), was); err != nil {
		f.t.Fatal(err)
	}
	fresh := *f.lines
	fresh.store = memory.New(memory.Options{})
	fresh.run()
	want := f.tree(f.path("out"))
	if !maps.Equal(got, want) {
		f.t.Fatalf("after %s there is\n%q\nand a fresh run gives\n%q", after, got, want)
	}
	fm, wm := f.manifests(), fresh.manifests()
	if !reflect.DeepEqual(fm, wm) {
		f.t.Fatalf("after %s the manifests are not those of a fresh run", after)
	}
	if err := errors.Join(os.RemoveAll(f.path("out")), os.Rename(was, f.path("out"))); err != nil {
		f.t.Fatal(err)
	}
}

// states returns those of the files of the output.
func (f *filed) states() map[string]os.FileInfo {
	f.t.Helper()
	all := map[string]os.FileInfo{}
	entries, err := os.ReadDir(f.path("out/data"))
	for _, e := range entries {
		info, ierr := e.Info()
		all[e.Name()], err = info, errors.Join(err, ierr)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return all
}

// TestSampleThatChangedIsWritten checks that one changed sample is computed and written,
// and that the files of the others stay.
func TestSampleThatChangedIsWritten(t *testing.T) {
	for name, nodes := range map[string]string{"samples": filesOfSamples, "files alone": filesAlone} {
		t.Run(name, func(t *testing.T) {
			f := newFiled(t, nodes, 200)
			f.run()
			before, dir := f.states(), f.info("out")
			f.write(sampleName(77), "another")
			r := f.run()
			out, hashed := node(t, r, "out"), node(t, r, "hashed")
			if out.Reused != 199 || out.Computed != 1 || out.FromStore != 199 || out.Samples != 200 {
				t.Errorf("out: %+v", out)
			}
			if hashed.Computed != 1 || hashed.FromStore != 199 || hashed.SecondsSaved <= 0 {
				t.Errorf("hashed: %+v", hashed)
			}
			same, after := 0, f.states()
			for name, info := range after {
				if was := before[name]; was != nil && os.SameFile(was, info) && was.ModTime().Equal(info.ModTime()) {
					same++
				}
			}
			if written := len(after) / 200; same != len(after)-written || len(before) != len(after) {
				t.Errorf("%d of %d files are what they were, and %d are there", same, len(before), len(after))
			}
			if one := len(after) == 200; one != os.SameFile(dir, f.info("out")) {
				t.Errorf("of %d files a sample, the directory is the one that was: %v", len(after)/200, !one)
			}
			if r := f.run(); !node(t, r, "out").Unchanged || node(t, r, "hashed").FromStore != 200 {
				t.Errorf("the next run: %+v", r.Nodes)
			}
			f.check("a change")
		})
	}
}

func (f *filed) info(name string) os.FileInfo {
	f.t.Helper()
	info, err := os.Stat(f.path(name))
	if err != nil {
		f.t.Fatal(err)
	}
	return info
}

// rewrite writes as many other bytes to a file and restores its times.
func (f *filed) rewrite(name string) {
	f.t.Helper()
	info, err := os.Stat(f.path(name))
	if err != nil {
		return
	}
	b := []byte(f.read(name))
	for i := range b {
		b[i] ^= 1
	}
	if err := errors.Join(os.WriteFile(f.path(name), b, 0o666), os.Chtimes(f.path(name), info.ModTime(), info.ModTime())); err != nil {
		f.t.Fatal(err)
	}
}

// doings has the changes to a sample between two runs. Each may do nothing.
var doings = map[string]func(f *filed, i int){
	"input changed":   func(f *filed, i int) { f.write(sampleName(i), fmt.Sprint("other ", i)) },
	"input as before": func(f *filed, i int) { f.write(sampleName(i), fmt.Sprint("text ", i)) },
	"input gone":      func(f *filed, i int) { _ = os.Remove(f.path(sampleName(i))) },
	"input edited":    func(f *filed, i int) { f.rewrite(sampleName(i)) },
	"inputs change places": func(f *filed, i int) {
		_ = os.Rename(f.path(sampleName(i)), f.path("t"))
		_ = os.Rename(f.path(sampleName((i+1)%f.n)), f.path(sampleName(i)))
		_ = os.Rename(f.path("t"), f.path(sampleName((i+1)%f.n)))
	},
	"another kind": func(f *filed, i int) {
		_ = os.Rename(f.path(sampleName(i)), f.path(strings.Replace(sampleName(i), ".txt", ".bin", 1)))
	},
	"another item": func(f *filed, i int) { f.write(strings.Replace(sampleName(i), "_text", "_more", 1), "text 3") },
	"item renamed": func(f *filed, i int) {
		more := strings.Replace(sampleName(i), "_text", "_more", 1)
		_ = os.Rename(f.path(more), f.path(strings.Replace(more, "_more", "_less", 1)))
	},
	"an item that all share":      func(f *filed, i int) { f.write("in/note.txt", fmt.Sprint("note ", i%2)) },
	"one of its own of that name": func(f *filed, i int) { f.write(strings.Replace(sampleName(i), "_text", "_note", 1), "note 1") },
	"all of their own of that name": func(f *filed, _ int) {
		for i := range f.n {
			f.write(strings.Replace(sampleName(i), "_text", "_note", 1), "note 1")
		}
	},
	"no longer of its own": func(f *filed, i int) {
		_ = os.Remove(f.path(strings.Replace(sampleName(i), "_text", "_note", 1)))
	},
	"none of that name": func(f *filed, _ int) {
		_ = os.Remove(f.path("in/note.txt"))
		for i := range f.n {
			_ = os.Remove(f.path(strings.Replace(sampleName(i), "_text", "_note", 1)))
		}
	},
	"output edited":  func(f *filed, i int) { f.rewrite(hashName(i)) },
	"output gone":    func(f *filed, i int) { _ = os.Remove(f.path(hashName(i))) },
	"all of it gone": func(f *filed, _ int) { _ = os.RemoveAll(f.path("out")) },
	"output linked":  func(f *filed, i int) { _ = os.Link(f.path(hashName(i)), f.path("t")); _ = os.Remove(f.path("t")) },
	"a link in its place": func(f *filed, i int) {
		if os.Rename(f.path(hashName(i)), f.path("t")) == nil { // otherwise the sink would not have written such a file
			_ = os.Symlink(f.path("t"), f.path(hashName(i)))
		}
	},
	"an output of another's name": func(f *filed, i int) {
		other := f.path(hashName((i + 1) % f.n))
		if _, err := os.Lstat(other); err != nil {
			return // with fewer samples the sink wrote no file of this name, and would refuse to replace it
		}
		_ = os.Rename(f.path(hashName(i)), other)
	},
	"a copy of the output": func(f *filed, i int) {
		if b, err := os.ReadFile(f.path(hashName(i))); err == nil {
			_ = os.Remove(f.path(hashName(i)))
			f.write(hashName(i), string(b))
		}
	},
	"the cache": func(f *filed, _ int) { f.store = memory.New(memory.Options{}) },
}

// TestStandingFilesAreWhatAFreshRunWrites edits samples and outputs at random between runs.
// The output and manifests equal those of a run with an empty cache, and the plan predicts
// the run.
func TestStandingFilesAreWhatAFreshRunWrites(t *testing.T) {
	testrand.Long(t)
	random := testrand.New(t)
	stood := int64(0)
	for name, nodes := range map[string]string{"samples": filesOfSamples, "files alone": filesAlone, "rows": filesOfRows} {
		f := newFiled(t, nodes, 12)
		for _, what := range slices.Concat([]string{
			"an item that all share", "one of its own of that name", "no longer of its own", "input changed",
			"all of their own of that name", "no longer of its own", "none of that name", "another item", "item renamed",
		}, slices.Sorted(maps.Keys(doings))) {
			doings[what](f, 3)
			stood += f.goOn(name, []string{what})
		}
		for round := range testrand.Rounds(25, 150) {
			var did []string
			for range min(round, random.IntN(4)) {
				what := slices.Sorted(maps.Keys(doings))[random.IntN(len(doings))]
				did = append(did, what)
				doings[what](f, random.IntN(f.n))
			}
			stood += f.goOn(name, did)
		}
	}
	if stood == 0 {
		t.Error("no sample was ever left as it was")
	}
}

// goOn plans and runs the flow, and returns the number of reused samples.
func (f *filed) goOn(name string, did []string) int64 {
	f.t.Helper()
	for i := range f.n {
		text := strings.TrimSuffix(f.path(sampleName(i)), "txt")
		found, err := filepath.Glob(text + "*")
		switch {
		case err != nil:
			f.t.Fatal(err)
		case len(found) == 2:
			_ = os.Remove(found[0])
		case len(found) == 0 && f.nodes == filesOfSamples: // this flow needs a sample
			f.write(sampleName(i), "text again")
		}
	}
	planned := f.plan()
	r := f.run()
	hashed := node(f.t, r, "hashed")
	for _, n := range planned.Nodes {
		if n.Name == "hashed" && n.Compute != hashed.Computed {
			f.t.Fatalf("%s, after %v: %d are computed, and the plan is %+v", name, did, hashed.Computed, n)
		}
	}
	f.check(fmt.Sprint(name, ": ", did))
	return node(f.t, r, "out").Reused
}

// TestStandingFilesOfFewerDigits checks outputs whose names have fewer digits, as many as
// the last position.
func TestStandingFilesOfFewerDigits(t *testing.T) {
	f := newFiled(t, filesOfSamples, 12)
	f.run()
	for i := 9; i < 12; i++ {
		_ = os.Remove(f.path(sampleName(i)))
	}
	if r := f.run(); node(t, r, "out").Reused != 0 {
		t.Errorf("out: %+v", node(t, r, "out"))
	}
	f.check("three samples less")
	if _, err := os.Stat(f.path("out/data/8_h.json")); err != nil {
		t.Error(err)
	}
}

// TestStandingFilesOfOtherNodesAreWritten checks that changed nodes count as much as
// changed inputs.
func TestStandingFilesOfOtherNodesAreWritten(t *testing.T) {
	for _, other := range []struct{ old, new string }{
		{"into: h}", "into: h, algorithm: md5}"},
		{"overwrite: replace", "overwrite: replace, copy: hard-link"},
	} {
		f := newFiled(t, filesOfSamples, 12)
		f.run()
		f.write(sampleName(3), "another")
		f.nodes = strings.Replace(f.nodes, other.old, other.new, 1)
		if r := f.run(); node(t, r, "out").Reused != 0 {
			t.Errorf("with %s: %+v", other.new, node(t, r, "out"))
		}
		f.check(other.new)
	}
}

// TestStandingFilesOfItemsThatAllShare checks that a changed shared item recomputes all
// that depends on it.
func TestStandingFilesOfItemsThatAllShare(t *testing.T) {
	f := newFiled(t, strings.Replace(filesOfSamples, "items: [text]", "items: [text, note]", 1), 12)
	f.write("in/note.txt", "one")
	f.run()
	f.write(sampleName(3), "another")
	if r := f.run(); node(t, r, "out").Reused != 11 {
		t.Errorf("after a change of one sample: %+v", node(t, r, "out"))
	}
	f.check("a change of one sample")
	f.write("in/note.txt", "two")
	if r := f.run(); node(t, r, "out").Reused != 0 || node(t, r, "hashed").Computed != 12 {
		t.Errorf("after a change of what all share: %+v", r.Nodes)
	}
	f.check("a change of what all share")
}

// TestStandingFilesWhileSomebodyWrites checks that a change during a run is in its output
// or in that of the next run.
func TestStandingFilesWhileSomebodyWrites(t *testing.T) {
	for name, do := range map[string]func(f *filed){
		"an output that stands is edited": func(f *filed) { f.rewrite(hashName(5)) },
		"an output is edited":             func(f *filed) { f.rewrite(hashName(3)) },
		"an input is edited":              func(f *filed) { f.rewrite(sampleName(5)) },
		"the directory is another":        func(f *filed) { _ = os.Rename(f.path("out"), f.path("elsewhere")) },
	} {
		for _, at := range []string{"hashed", "out"} {
			f := newFiled(t, filesOfSamples, 12)
			f.run()
			f.write(sampleName(3), "another")
			o := flow.During(flow.RunOptions{Larder: newLarder(t, f.store)}, func(ev flow.Event) {
				if ev.Event == flow.NodeStarted && ev.Node == at {
					do(f)
				}
			})
			g, err := flow.Parse(f.path(f.file), []byte("version: 1\nnodes:\n"+f.nodes), nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := g.Run(t.Context(), o); err != nil && !errors.Is(err, dataset.ErrChanged) {
				t.Fatalf("%s at %s: %v", name, at, err)
			}
			f.run()
			f.check(name + " at " + at)
		}
	}
}
