package flow_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/pool"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/memory"

	_ "github.com/larder-data/larder/format/csv"
)

const (
	rowsOfLines = `
  in: {source: jsonl, with: {path: in.jsonl}}
  hashed: {map: hash, from: in, keep: true, with: {items: [text], into: h}}
  out: {sink: jsonl, from: hashed, with: {path: out.jsonl, overwrite: replace}}
`
	rowsOfTables = `
  in: {source: csv, with: {path: in.jsonl}}
  hashed: {map: hash, from: in, keep: true, with: {items: [text], into: h}}
  named: {map: rename, from: hashed, with: {names: {text: said}}}
  out: {sink: csv, from: named, with: {path: out.jsonl, overwrite: replace}}
`
)

// rowsOfMappers stores results of results, with and without a checkpoint.
var rowsOfMappers = strings.Replace(rowsOfLines, "from: hashed, with", "from: last, with", 1) + `
  again: {map: hash, from: hashed, checkpoint: true, with: {items: [h], into: i}}
  last: {map: compose, from: again, keep: true, with: {steps: [{map: hash, with: {items: [h, i], into: j}}, {map: drop-keys, with: {keys: [h]}}]}}
`

// edited is a flow over rows that tests edit, with the state of its runs.
type edited struct {
	*lines
	head   string
	rows   []string
	quote  func(text string) string
	seen   map[string]bool // hashed strings
	larder larder.Options
}

func newEdited(t *testing.T, nodes string, n int) *edited {
	e := &edited{lines: newLines(t, nodes, 0), seen: map[string]bool{}}
	e.quote = func(text string) string { return fmt.Sprintf("{\"text\": %q}\n", text) }
	if nodes == rowsOfTables {
		e.head = "text\n"
		e.quote = func(text string) string { return fmt.Sprintf("%q\n", text) }
	}
	for i := range n {
		e.rows = append(e.rows, e.quote(fmt.Sprint("row ", i)))
	}
	return e
}

// save writes the rows.
func (e *edited) save() {
	e.t.Helper()
	e.write("in.jsonl", e.head+strings.Join(e.rows, ""))
}

// options returns the options of a run.
func (e *edited) options() flow.RunOptions {
	e.t.Helper()
	e.larder.Store = e.store
	l, err := larder.Open(e.larder)
	if err != nil {
		e.t.Fatal(err)
	}
	return flow.RunOptions{Larder: l, Pool: pool.New(2)}
}

// fresh returns the output and manifests of a run with an empty cache and no output.
func (e *edited) fresh() (out string, cached []store.Manifest) {
	e.t.Helper()
	other := *e.lines
	other.t, other.dir, other.store = e.t, e.t.TempDir(), memory.New(memory.Options{})
	other.write("in.jsonl", e.read("in.jsonl"))
	other.run()
	return other.read("out.jsonl"), other.manifests()
}

// manifests returns those of the caching nodes.
func (l *lines) manifests() (all []store.Manifest) {
	for _, name := range []string{"hashed", "again", "last"} {
		m, _ := l.store.Manifest(l.t.Context(), l.path(l.file)+"#"+name)
		all = append(all, store.Manifest{Keys: m.Keys, Note: m.Note, Pinned: m.Pinned})
	}
	return all
}

// check compares the output and manifests of a run with those of a fresh one.
func (e *edited) check() {
	e.t.Helper()
	out, _ := e.fresh()
	if got := e.read("out.jsonl"); got != out {
		e.t.Fatalf("%d bytes were written, and an empty cache gives %d others", len(got), len(out))
	}
}

// news counts the strings that were not hashed yet.
func (e *edited) news() int64 {
	n := int64(0)
	for _, r := range e.rows {
		if r = strings.TrimRight(r, "\n"); !e.seen[r] {
			e.seen[r] = true
			n++
		}
	}
	return n
}

// TestRowsThatChangedCostTheirChunk checks that one changed row, wherever it is,
// recomputes only its chunk.
func TestRowsThatChangedCostTheirChunk(t *testing.T) {
	const n = 3000
	for name, nodes := range map[string]string{"lines": rowsOfLines, "tables": rowsOfTables} {
		for what, edit := range map[string]func(e *edited){
			"a row is another":      func(e *edited) { e.rows[1500] = e.quote("another") },
			"a row is put in front": func(e *edited) { e.rows = slices.Insert(e.rows, 0, e.quote("another")) },
			"a row comes last":      func(e *edited) { e.rows = append(e.rows, e.quote("another")) },
			"a row is gone":         func(e *edited) { e.rows = slices.Delete(e.rows, 1500, 1501) },
			"half of them are gone": func(e *edited) { e.rows = e.rows[1500:] },
		} {
			t.Run(name+": "+what, func(t *testing.T) {
				e := newEdited(t, nodes, n)
				e.save()
				e.run()
				e.news()
				edit(e)
				e.save()
				r := e.run()
				e.check()
				out, hashed, size := node(t, r, "out"), node(t, r, "hashed"), int64(len(e.rows))
				if out.Reused < size-400 || out.FromStore != out.Reused || out.Computed != size-out.Reused || out.Samples != size {
					t.Errorf("out: %+v", out)
				}
				if want := e.news(); hashed.Computed != want || hashed.FromStore+hashed.FromMemory != size-want || hashed.SecondsSaved <= 0 {
					t.Errorf("hashed: %+v", hashed)
				}
				if r := e.run(); !node(t, r, "out").Unchanged || node(t, r, "hashed").FromStore != size {
					t.Errorf("the next run: %+v", r.Nodes)
				}
			})
		}
	}
}

// edits has the changes between two runs. Each may do nothing.
var edits = map[string]func(e *edited, random *rand.Rand){
	"change": func(e *edited, random *rand.Rand) {
		e.rows[random.IntN(len(e.rows))] = e.quote(fmt.Sprint("row ", random.IntN(5000)))
	},
	"insert": func(e *edited, random *rand.Rand) {
		e.rows = slices.Insert(e.rows, random.IntN(len(e.rows)+1), e.quote(fmt.Sprint("row ", random.IntN(5000))))
	},
	"delete": func(e *edited, random *rand.Rand) {
		i := random.IntN(len(e.rows))
		e.rows = slices.Delete(e.rows, i, min(i+1+random.IntN(30), len(e.rows)-1))
	},
	"swap": func(e *edited, random *rand.Rand) {
		i, j := random.IntN(len(e.rows)), random.IntN(len(e.rows))
		e.rows[i], e.rows[j] = e.rows[j], e.rows[i]
	},
	"duplicate": func(e *edited, random *rand.Rand) {
		i := random.IntN(len(e.rows))
		some := slices.Clone(e.rows[i:min(i+random.IntN(200), len(e.rows))])
		e.rows = slices.Insert(e.rows, random.IntN(len(e.rows)), some...)
	},
	"move": func(e *edited, random *rand.Rand) {
		i := random.IntN(len(e.rows))
		e.rows = slices.Concat(e.rows[i:], e.rows[:i])
	},
	"append": func(e *edited, _ *rand.Rand) { e.rows = append(e.rows, e.rows[:min(3, len(e.rows))]...) },
	"no end of the last line": func(e *edited, _ *rand.Rand) {
		last := &e.rows[len(e.rows)-1]
		*last = strings.TrimRight(*last, "\n")
	},
	"output changed": func(e *edited, random *rand.Rand) {
		b := []byte(e.read("out.jsonl"))
		b[random.IntN(len(b))] ^= 1
		e.rewrite("out.jsonl", b)
	},
	"output cut": func(e *edited, random *rand.Rand) {
		b := []byte(e.read("out.jsonl"))
		e.rewrite("out.jsonl", b[:random.IntN(len(b))])
	},
	"output gone":  func(e *edited, _ *rand.Rand) { _ = os.Remove(e.path("out.jsonl")) },
	"output later": func(e *edited, _ *rand.Rand) { e.rewrite("out.jsonl", []byte("{}\n"+e.read("out.jsonl"))) },
}

// rewrite writes other bytes to a file and restores its times.
func (e *edited) rewrite(name string, b []byte) {
	e.t.Helper()
	info, err := os.Stat(e.path(name))
	if err != nil {
		return // it was removed
	}
	if err := errors.Join(os.WriteFile(e.path(name), b, 0o666), os.Chtimes(e.path(name), info.ModTime(), info.ModTime())); err != nil {
		e.t.Fatal(err)
	}
}

// TestPiecesAreWhatAFreshRunWrites edits rows and the output at random between runs. The
// output and manifests equal those of a fresh run, each new result is computed once, and
// the dry run predicts this.
func TestPiecesAreWhatAFreshRunWrites(t *testing.T) {
	testrand.Long(t)
	random := testrand.New(t)
	rounds := testrand.Rounds(12, 40)
	if testing.Short() {
		rounds = 6
	}
	stood := int64(0)
	for name, nodes := range map[string]string{"lines": rowsOfLines, "tables": rowsOfTables, "mappers": rowsOfMappers} {
		e := newEdited(t, nodes, 700)
		for round := range rounds {
			var did []string
			for range min(round, 1+random.IntN(3)) {
				what := slices.Sorted(maps.Keys(edits))[random.IntN(len(edits))]
				if _, err := os.Stat(e.path("out.jsonl")); err != nil && strings.HasPrefix(what, "output") {
					continue
				}
				edits[what](e, random)
				did = append(did, what)
			}
			e.rows = e.rows[:min(len(e.rows), 1000)]
			for i := range e.rows[:len(e.rows)-1] {
				e.rows[i] = strings.TrimRight(e.rows[i], "\n") + "\n"
			}
			e.save()
			planned := e.plan()
			r := e.runIn(e.options())
			e.check()
			_, cached := e.fresh()
			if !reflect.DeepEqual(e.manifests(), cached) {
				t.Fatalf("%s, after %v: the manifests are not those of a fresh run", name, did)
			}
			want := e.news()
			hashed := node(t, r, "hashed")
			if hashed.Computed != want || hashed.Computed+hashed.FromMemory+hashed.FromStore != int64(len(e.rows)) {
				t.Fatalf("%s, after %v: %d to compute, and %+v", name, did, want, hashed)
			}
			for _, n := range planned.Nodes {
				if n.Name == "hashed" && (n.Compute != want || n.Samples != int64(len(e.rows))) {
					t.Fatalf("%s, after %v: %d to compute, and the plan is %+v", name, did, want, n)
				}
			}
			stood += node(t, r, "out").Reused
		}
	}
	if stood == 0 {
		t.Error("no row was ever taken over")
	}
}

// TestPiecesOfOtherNodesAreMade checks that changed nodes count as much as changed inputs.
func TestPiecesOfOtherNodesAreMade(t *testing.T) {
	swap := func(old, text string) func(e *edited) {
		return func(e *edited) {
			if !strings.Contains(e.nodes, old) {
				e.t.Fatalf("there is no %q", old)
			}
			e.nodes = strings.Replace(e.nodes, old, text, 1)
		}
	}
	for name, touch := range map[string]func(e *edited){
		"a parameter of the mapper": swap("into: h", "into: h, algorithm: md5"),
		"another item":              swap("into: h", "into: g"),
		"a parameter of the source": func(e *edited) {
			swap("path: in.jsonl", "path: in.jsonl, items: record")(e)
			swap("items: [text]", "items: [record]")(e)
			swap("from: hashed", "from: only")(e)
			e.nodes += "  only: {map: drop-keys, from: hashed, with: {keys: [record]}}\n"
		},
		"a mapper that is not cached": swap("keep: true, ", ""),
		"a mapper more":               swap("from: in,", "from: more,  "),
		"an operator that counts": func(e *edited) {
			swap("from: hashed", "from: numbered")(e)
			e.nodes += "  numbered: {op: enumerate, from: hashed}\n"
		},
		"an operator that turns": func(e *edited) {
			swap("from: hashed", "from: turned")(e)
			e.nodes += "  turned: {op: reverse, from: hashed}\n"
		},
		"the cache":       func(e *edited) { e.store = memory.New(memory.Options{}) },
		"the salt":        func(e *edited) { e.larder.Salt = "another" },
		"verified hits":   func(e *edited) { e.larder.Verify = larder.Verification{Sample: 0.5} },
		"the flow's name": func(e *edited) { e.file = "other.yaml" },
	} {
		t.Run(name, func(t *testing.T) {
			e := newEdited(t, rowsOfLines, 500)
			if name == "a mapper more" {
				e.nodes += "  more: {map: set-value, from: in, keep: true, with: {key: x, value: 1}}\n"
			}
			e.save()
			e.runIn(e.options())
			e.rows[250] = e.quote("another")
			e.save()
			if r := e.runIn(e.options()); node(t, r, "out").Reused == 0 {
				t.Fatalf("no row was taken over: %+v", r.Nodes)
			}
			touch(e)
			e.rows[200] = e.quote("yet another")
			e.save()
			if r := e.runIn(e.options()); node(t, r, "out").Reused != 0 {
				t.Errorf("%d rows were taken over", node(t, r, "out").Reused)
			}
			e.check()
		})
	}
}

// TestPiecesOfOtherColumnsAreMade checks that columns of the first row apply to all rows.
func TestPiecesOfOtherColumnsAreMade(t *testing.T) {
	for name, sink := range map[string]string{"a table": "sink: csv", "lines": "sink: jsonl"} {
		t.Run(name, func(t *testing.T) {
			e := newEdited(t, rowsOfTables, 500)
			e.nodes = strings.Replace(e.nodes, "sink: csv", sink, 1)
			e.head = "one,text\n"
			for i, r := range e.rows {
				e.rows[i] = "x," + r
			}
			e.save()
			e.run()
			for _, head := range []string{"other,text\n", "text,other\n"} {
				e.head = head
				e.save()
				if r := e.run(); node(t, r, "out").Reused != 0 {
					t.Errorf("%+v", node(t, r, "out"))
				}
				e.check()
			}
			e.rows = append(e.rows, e.rows[0])
			e.save()
			if r := e.run(); node(t, r, "out").Reused == 0 {
				t.Errorf("%+v", node(t, r, "out"))
			}
			e.check()
		})
	}
}

// TestPiecesWhileSomebodyWrites checks that a change during a run is in its output or in
// that of the next run.
func TestPiecesWhileSomebodyWrites(t *testing.T) {
	at := func(name string, do func(e *edited)) func(e *edited) func(flow.Event) {
		return func(e *edited) func(flow.Event) {
			return func(ev flow.Event) {
				if ev.Event == flow.NodeStarted && ev.Node == name {
					do(e)
				}
			}
		}
	}
	for name, observe := range map[string]func(e *edited) func(flow.Event){
		"the output is changed": at("out", func(e *edited) {
			e.rewrite("out.jsonl", []byte(strings.ReplaceAll(e.read("out.jsonl"), "row 1", "ROW 1")))
		}),
		"the output is removed": at("out", func(e *edited) { _ = os.Remove(e.path("out.jsonl")) }),
		"the input is changed": at("hashed", func(e *edited) {
			e.rewrite("in.jsonl", []byte(strings.ReplaceAll(e.read("in.jsonl"), "row 1", "ROW 1")))
		}),
	} {
		t.Run(name, func(t *testing.T) {
			e := newEdited(t, rowsOfLines, 500)
			e.save()
			e.run()
			e.rows[250] = e.quote("another")
			e.save()
			o := e.options()
			o = flow.During(o, observe(e))
			f, err := flow.Parse(e.path(e.file), []byte("version: 1\nnodes:\n"+e.nodes), nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Run(t.Context(), o); err != nil && (!errors.Is(err, dataset.ErrChanged) || name != "the input is changed") {
				t.Fatal(err)
			}
			e.run()
			e.check()
		})
	}
}

// TestPiecesAfterARunThatFailed checks that later runs reuse nothing of a failed run.
func TestPiecesAfterARunThatFailed(t *testing.T) {
	e := newEdited(t, rowsOfLines, 500)
	e.save()
	e.run()
	before := e.read("out.jsonl")
	good := slices.Clone(e.rows)
	e.rows[100], e.rows[400] = e.quote("another"), "{\n"
	e.save()
	f, err := flow.Parse(e.path(e.file), []byte("version: 1\nnodes:\n"+e.nodes), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Run(t.Context(), e.options()); err == nil || e.read("out.jsonl") != before {
		t.Fatalf("the error is %v", err)
	}
	e.rows = append([]string{e.quote("another one")}, good...)
	e.save()
	e.run()
	e.check()
}

// TestPiecesOfRunsSideBySide checks that two concurrent runs write what one does.
func TestPiecesOfRunsSideBySide(t *testing.T) {
	e := newEdited(t, rowsOfLines, 500)
	for round := range 5 {
		e.rows = slices.Insert(e.rows, 17*round, e.quote(fmt.Sprint("new ", round)))
		e.save()
		var wait sync.WaitGroup
		for range 3 {
			o := e.options()
			wait.Go(func() {
				f, err := flow.Parse(e.path(e.file), []byte("version: 1\nnodes:\n"+e.nodes), nil)
				if err == nil {
					_, err = f.Run(t.Context(), o)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		e.check()
	}
}

// TestPiecesOfCommandsThatChange checks that the output has no results of a command that
// was replaced for a moment.
func TestPiecesOfCommandsThatChange(t *testing.T) {
	l := newLines(t, commands, 30)
	const one, two = "printf '\"one\"' >$LARDER_OUT/made.json\n", "printf '\"two\"' >$LARDER_OUT/made.json\n"
	l.write("script", one)
	l.run()
	l.write("in.jsonl", l.read("in.jsonl")+"{\"text\": \"more\"}\n")
	l.runIn(flow.During(flow.RunOptions{Larder: newLarder(t, l.store)}, func(e flow.Event) {
		if e.Event == flow.NodeStarted && e.Node == "in" {
			l.write("script", two)
		}
	}))
	if got := l.read("out.jsonl"); strings.Count(got, "two") != 31 || strings.Contains(got, "one") {
		t.Errorf("the script was changed before it ran, and this was made: %s", got)
	}
	l.write("script", one)
	l.write("in.jsonl", l.read("in.jsonl")+"{\"text\": \"and more\"}\n")
	l.run()
	if got := l.read("out.jsonl"); strings.Count(got, "one") != 32 || strings.Contains(got, "two") {
		t.Errorf("the script is what it was at first, and this was made: %s", got)
	}
}

// sayParams names a file, or counts samples.
type sayParams struct {
	Path component.Path `param:"path" doc:"a file"`
}

// sayMapper is a mapper that puts a string into each sample.
func sayMapper(text string) dataset.Mapper {
	return dataset.MapperFunc(func(_ context.Context, s dataset.Sample) (dataset.Sample, error) {
		return s.With(dataset.Field{Key: "said", Item: dataset.NewItem("json", text)}), nil
	})
}

func init() {
	component.RegisterMapper("say-file", "Puts the content of a file into each sample, for tests.", func(env *component.Env, p sayParams) (dataset.Mapper, error) {
		b, err := os.ReadFile(env.Path(p.Path))
		return sayMapper(string(b)), err
	})
	component.RegisterOp("say-count", "Puts the number of samples into each, for tests.",
		func(_ context.Context, _ *component.Env, _ sayParams, in component.Samples) (component.Samples, error) {
			return dataset.Map(in, sayMapper(fmt.Sprint(in.Len())), dataset.MapOptions{}), nil
		})
}

// TestPiecesOfSamplesThatAreNotAlone checks that results that depend on more than their row
// are computed again for every row.
func TestPiecesOfSamplesThatAreNotAlone(t *testing.T) {
	put := func(node string) string {
		return strings.Replace(rowsOfLines, "from: hashed", "from: last", 1) + "  last: {" + node + "}\n"
	}
	for name, c := range map[string]struct {
		nodes string
		touch func(e *edited)
	}{
		"a mapper that reads a file": {put("map: say-file, from: hashed, with: {path: said}"), func(e *edited) { e.write("said", "b") }},
		"an operator that counts":    {put("op: say-count, from: hashed"), func(*edited) {}},
		"rows that name files": {
			strings.NewReplacer("path: in.jsonl", "path: in.jsonl, files: {doc: text}, outside: true", "items: [text]", "items: [doc]", "from: hashed", "from: last").Replace(rowsOfLines) +
				"  last: {map: drop-keys, from: hashed, with: {keys: [doc]}}\n",
			func(e *edited) { e.write("said", "b") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEdited(t, c.nodes, 500)
			e.write("said", "a")
			if strings.Contains(c.nodes, "files:") {
				for i := range e.rows {
					e.rows[i] = e.quote(fmt.Sprintf("%s/%d/../said", e.dir, i)) // other rows, the same file
				}
			}
			e.save()
			e.run()
			c.touch(e)
			e.rows = append(e.rows, e.rows...)
			e.save()
			e.run()
			got := e.read("out.jsonl")
			e.store = memory.New(memory.Options{})
			if e.run(); got != e.read("out.jsonl") {
				t.Error("what was written is not what an empty cache gives")
			}
		})
	}
}

// TestPiecesNextToOtherManifests checks manifests of another run, with samples at other
// positions.
func TestPiecesNextToOtherManifests(t *testing.T) {
	e := newEdited(t, rowsOfLines, 500)
	e.save()
	e.run()
	e.rows = append([]string{e.quote("another")}, e.rows...)
	e.save()
	o := e.options()
	o.Only = []string{"hashed"}
	e.runIn(o)
	e.rows[400] = e.quote("yet another")
	e.save()
	e.run()
	e.check()
	if _, cached := e.fresh(); !reflect.DeepEqual(e.manifests(), cached) {
		t.Error("the manifest is not that of a fresh run")
	}
}

// TestPiecesAreExplained checks that why explains each sample as if all had been read.
func TestPiecesAreExplained(t *testing.T) {
	e := newEdited(t, rowsOfLines, 500)
	e.save()
	e.run()
	e.rows = append([]string{e.quote("another")}, e.rows...)
	e.save()
	if r := e.run(); node(t, r, "out").Reused == 0 {
		t.Fatalf("%+v", r.Nodes)
	}
	e.rows[400] = e.quote("yet another")
	e.save()
	f, err := flow.Parse(e.path(e.file), []byte("version: 1\nnodes:\n"+e.nodes), nil)
	if err != nil {
		t.Fatal(err)
	}
	for sample, want := range map[int]string{399: "cached", 400: "input text: changed"} {
		why, err := f.Why(t.Context(), e.options(), "hashed", sample)
		if err != nil || len(why) != 1 || !strings.Contains(why[0], want) {
			t.Errorf("sample %d: %q (%v)", sample, why, err)
		}
	}
}

// TestPiecesOfResultsThatAreGone checks that reused rows do not need their results in the
// cache, and that a dry run predicts this.
func TestPiecesOfResultsThatAreGone(t *testing.T) {
	e := newEdited(t, rowsOfLines, 2000)
	e.save()
	e.run()
	for _, k := range e.manifests()[0].Keys {
		if err := e.store.Delete(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
	e.rows[1000] = e.quote("another")
	e.save()
	planned, r := e.plan(), e.run()
	e.check()
	out, hashed := node(t, r, "out"), node(t, r, "hashed")
	if out.Reused == 0 || hashed.Computed != 2000-out.Reused {
		t.Errorf("out: %+v, hashed: %+v", out, hashed)
	}
	for _, n := range planned.Nodes {
		if n.Name == "hashed" && (n.Compute != hashed.Computed || n.Cached != out.Reused) {
			t.Errorf("the plan says %+v, and the run %+v", n, hashed)
		}
	}
}

// TestPiecesWithAReadOnlyStore checks the same with a store on disk, writable or not, and
// no memory cache.
func TestPiecesWithAReadOnlyStore(t *testing.T) {
	e := newEdited(t, rowsOfLines, 500)
	dir := t.TempDir()
	run := func(readOnly bool) flow.NodeReport {
		t.Helper()
		l, err := larder.Open(larder.Options{Dir: dir, MemoryBytes: -1, ReadOnly: readOnly})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		out := node(t, e.runIn(flow.RunOptions{Larder: l}), "out")
		e.check()
		return out
	}
	e.save()
	run(false)
	for round, readOnly := range []bool{true, true, false, true, false} {
		e.rows = slices.Insert(e.rows, 90*round, e.quote(fmt.Sprint("another ", round)))
		e.save()
		noted := round != 1 && round != 2 // rounds 0 and 1 left no manifest
		if out := run(readOnly); noted && out.Reused == 0 {
			t.Errorf("round %d: %+v", round, out)
		}
	}
	if out := run(false); !out.Unchanged {
		t.Errorf("nothing changed, and %+v", out)
	}
}

// TestPiecesOfTwoSinks checks that one of two sinks may reuse rows that the other one
// computes.
func TestPiecesOfTwoSinks(t *testing.T) {
	const n = 1000
	e := newEdited(t, rowsOfLines+"  other: {sink: jsonl, from: hashed, with: {path: other.jsonl, overwrite: replace}}\n", n)
	e.save()
	e.run()
	for name, touch := range map[string]func(){
		"neither touched": func() {},
		"one touched":     func() { e.rewrite("other.jsonl", []byte(strings.Replace(e.read("other.jsonl"), "row", "ROW", 1))) },
		"one removed":     func() { _ = os.Remove(e.path("other.jsonl")) },
		"both removed":    func() { _ = errors.Join(os.Remove(e.path("out.jsonl")), os.Remove(e.path("other.jsonl"))) },
	} {
		e.rows[n/2] = e.quote(name)
		e.save()
		touch()
		r := e.run()
		out, cached := e.fresh()
		if e.read("out.jsonl") != out || e.read("other.jsonl") != out || !reflect.DeepEqual(e.manifests(), cached) {
			t.Errorf("%s: an empty cache gives something else", name)
		}
		if h := node(t, r, "hashed"); h.Computed != 1 || h.Computed+h.FromMemory+h.FromStore != 2*n {
			t.Errorf("%s: %+v", name, h)
		}
	}
}
