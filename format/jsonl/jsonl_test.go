package jsonl_test

import (
	"context"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/jsonl"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/internal/fs/pathguard"
	"github.com/larder-data/larder/pool"
)

// file writes a file in a new directory and returns its path.
func file(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(content), 0o666)); err != nil {
		t.Fatal(err)
	}
	return path
}

// show describes a sample: its keys with their bytes.
func show(t testing.TB, s dataset.Sample) string {
	t.Helper()
	var items []string
	for f := range s.Fields() {
		b, err := f.Item.Bytes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, fmt.Sprintf("%s=%s", f.Key, b))
	}
	return strings.Join(items, " ")
}

func showAll(t testing.TB, ds component.Samples) (all []string) {
	t.Helper()
	for s, err := range dataset.All(t.Context(), ds) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, show(t, s))
	}
	return all
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, content string
		source        jsonl.Source
		want          []string
	}{
		{"fields, in their order", "{\"b\": 1.0, \"a\": [1,\"x\"]}\n{\"b\":null}\n", jsonl.Source{}, []string{`b=1.0 a=[1,"x"]`, "b=null"}},
		{"no end of the last line", "{\"a\":1}\n{\"a\":2}", jsonl.Source{}, []string{"a=1", "a=2"}},
		{"blank lines, spaces, other ends of lines", "\n  {\"a\":1} \r\n \t\r\n\n{\"a\":2}\n\n", jsonl.Source{}, []string{"a=1", "a=2"}},
		{"a byte order mark", "\ufeff{\"a\":1}\n", jsonl.Source{}, []string{"a=1"}},
		{"records", "1\n \"x\"\n{\"a\": 2}\n", jsonl.Source{Items: jsonl.Record}, []string{"record=1", `record="x"`, `record={"a": 2}`}},
		{"nothing", "", jsonl.Source{}, nil},
		{"an empty object", "{}\n", jsonl.Source{}, []string{""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ds, err := c.source.Open(t.Context(), file(t, "x.jsonl", c.content), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := showAll(t, ds); !slices.Equal(got, c.want) {
				t.Errorf("read %q, want %q", got, c.want)
			}
		})
	}
}

func TestBadLines(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`{"a":1,}`, "x.jsonl:3:8: "},
		{`{"a":1`, "x.jsonl:3:6: "},
		{`{"a":1} {"a":2}`, "x.jsonl:3:9: "},
		{"{\"a\":\"\xff\"}", "x.jsonl:3:7: not UTF-8"},
		{`{"a":NaN}`, "x.jsonl:3:6: unexpected 'N', expected a value; write null"},
		{`{"a":1 N}`, "x.jsonl:3:8: unexpected 'N'"},
		{`{N:1}`, "x.jsonl:3:2: unexpected 'N', expected a field name in double quotes"},
		{`{"a":-Infinity}`, "x.jsonl:3:7: unexpected 'I', expected a value; write null"},
		{`[1]`, "x.jsonl:3:1: a list, not an object"},
		{`1`, "x.jsonl:3:1: not an object such as"},
		{`{"a":1,"a":2}`, `x.jsonl:3:1: duplicate field "a"`},
		{strings.Repeat("[", 20000), "x.jsonl:3:"},
	} {
		ds, err := jsonl.Source{}.Open(t.Context(), file(t, "x.jsonl", "{\"a\":1}\n\n"+c.line+"\n{\"a\":3}\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ds.At(t.Context(), 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: the error is %v, want %q", c.line, err, c.want)
		}
		if s, err := ds.At(t.Context(), 2); err != nil || show(t, s) != "a=3" {
			t.Errorf("%.40q: the line after it is lost: %v", c.line, err)
		}
	}
}

func TestDirectoryOfFiles(t *testing.T) {
	dir := filepath.Dir(file(t, "b.jsonl", "{\"a\":3}\n"))
	for name, content := range map[string]string{"a.ndjson": "{\"a\":1}\n{\"a\":2}", "empty.jsonl": "", "note.txt": "no", ".hidden.jsonl": "no"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	ds, err := jsonl.Source{}.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := showAll(t, ds); !slices.Equal(got, []string{"a=1", "a=2", "a=3"}) {
		t.Errorf("read %q", got)
	}
	for i := range 3 { // in any order
		if s, err := ds.At(t.Context(), 2-i); err != nil || show(t, s) != fmt.Sprint("a=", 3-i) {
			t.Errorf("sample %d: %v", 2-i, err)
		}
	}
	for _, path := range []string{t.TempDir(), filepath.Join(dir, "none"), file(t, "x.jsonl.gz", "")} {
		if _, err := (jsonl.Source{}).Open(t.Context(), path, nil); err == nil {
			t.Errorf("%s was opened", path)
		}
	}
}

// TestPipesAreRefused checks a pipe without a writer in place of a file: a read would
// block.
func TestPipesAreRefused(t *testing.T) {
	dir := filepath.Dir(file(t, "a.jsonl", "{\"a\":1}\n"))
	pipe := filepath.Join(dir, "b.jsonl")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path   string
		stream bool
	}{{pipe, false}, {dir, false}, {dir, true}} {
		_, err := jsonl.Source{Stream: c.stream}.Open(t.Context(), c.path, nil)
		if err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestChangedFile(t *testing.T) {
	path := file(t, "x.jsonl", "{\"a\":1}\n{\"a\":2}\n")
	ds, err := jsonl.Source{}.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Hour)
	if err := errors.Join(os.WriteFile(path, []byte("{\"b\":10}\n{\"b\":20}\n"), 0o666), os.Chtimes(path, later, later)); err != nil {
		t.Fatal(err)
	}
	if _, err := ds.At(t.Context(), 1); !errors.Is(err, dataset.ErrChanged) {
		t.Errorf("the error is %v", err)
	}
}

func TestFiles(t *testing.T) {
	path := file(t, "x.jsonl", `{"path":"img/a.txt","n":1}
{"n":2}
{"path":null}
{"path":"../secret.txt"}
{"path":"/etc/passwd"}
{"path":5}
{"path":""}
`)
	img := filepath.Join(filepath.Dir(path), "img")
	if err := errors.Join(os.Mkdir(img, 0o777), os.WriteFile(filepath.Join(img, "a.txt"), []byte("pixels"), 0o666)); err != nil {
		t.Fatal(err)
	}
	source := jsonl.Source{Files: map[string]string{"image": "path"}}
	ds, err := source.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{`path="img/a.txt" n=1 image=pixels`, "n=2", "path=null"} {
		if s, err := ds.At(t.Context(), i); err != nil || show(t, s) != want {
			t.Errorf("sample %d: %v, want %q", i, err, want)
		}
	}
	for i, want := range []string{":4:1: field path: \"../secret.txt\" is outside the directory", ":5:1: field path: \"/etc/passwd\" is outside the directory", ":6:1: field path: the path of a file must be a string", ":7:1: field path: the file name is missing"} {
		if _, err := ds.At(t.Context(), 3+i); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("sample %d: %v, want %q", 3+i, err, want)
		}
	}
	source.Outside = true
	if ds, err = source.Open(t.Context(), path, nil); err != nil {
		t.Fatal(err)
	}
	for i, want := range map[int]string{3: filepath.Join(filepath.Dir(path), "../secret.txt"), 4: "/etc/passwd"} {
		s, err := ds.At(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		it, err := s.Item("image")
		if err != nil || it.Origin().(*dataset.FileOrigin).Path() != want {
			t.Errorf("sample %d: %v, %v", i, it, err)
		}
	}
}

// write writes a dataset and returns the counters.
func write(t testing.TB, s jsonl.Sink, in component.Data) (*dataset.NodeStats, error) {
	t.Helper()
	env := &component.Env{Node: "out", Stats: new(dataset.NodeStats), Log: slog.New(slog.DiscardHandler), Pool: pool.New(3)}
	return env.Stats, s.Write(t.Context(), env, in)
}

func document(k string, v any) dataset.Field {
	return dataset.Field{Key: k, Item: dataset.NewItem("json", v)}
}

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "x.jsonl")
	ds := dataset.Func(100, func(_ context.Context, i int) (dataset.Sample, error) {
		return dataset.NewSample(document("n", int64(i)), dataset.Field{Key: "t", Item: dataset.NewItem("txt", "<a>\n")}, dataset.Field{Key: "raw", Item: dataset.NewBytes("json", []byte("[ 1.00,\n2 ]"))}), nil
	})
	if _, err := write(t, jsonl.Sink{Path: component.Path(path)}, component.One(ds)); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(b), "\n")
	if len(lines) != 101 || lines[42] != `{"n":42,"t":"<a>\n","raw":[1.00,2]}` {
		t.Errorf("%d lines, one is %s", len(lines), lines[42])
	}
	if _, err := write(t, jsonl.Sink{Path: component.Path(path)}, component.One(ds)); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("a file that is there gives %v", err)
	}
	before, _ := os.Stat(path)
	stats, err := write(t, jsonl.Sink{Path: component.Path(path), Overwrite: output.Replace}, component.One(ds))
	if after, _ := os.Stat(path); err != nil || !os.SameFile(before, after) || stats.Computed.Load() != 0 || stats.FromStore.Load() != 100 {
		t.Errorf("the same dataset: %v, %d written", err, stats.Computed.Load())
	}
}

// TestLargeWholeNumbersAreCopied checks that integers of any size and position are written
// exactly, and read back.
func TestLargeWholeNumbersAreCopied(t *testing.T) {
	const (
		fields = `{"v":18446744073709551615,"w":-9223372036854775809,"deep":[9223372036854775808,{"x":123456789012345678901234567890}],"n":9223372036854775807}` + "\n"
		record = "18446744073709551615\n"
	)
	for _, c := range []struct {
		items jsonl.Items
		line  string
	}{{jsonl.Fields, fields}, {jsonl.Record, record}} {
		ds, err := jsonl.Source{Items: c.items}.Open(t.Context(), file(t, "x.jsonl", c.line), nil)
		if err != nil {
			t.Fatal(err)
		}
		values := dataset.Func(ds.Len(), func(ctx context.Context, i int) (dataset.Sample, error) {
			s, err := ds.At(ctx, i)
			if err != nil {
				return s, err
			}
			for f := range s.Fields() { // without the original bytes
				v, err := f.Item.Value(ctx)
				if err != nil {
					return s, err
				}
				s = s.With(document(f.Key, v))
			}
			return s, nil
		})
		for what, in := range map[string]component.Samples{"the text": ds, "the value": values} {
			path := filepath.Join(t.TempDir(), "y.jsonl")
			if _, err := write(t, jsonl.Sink{Path: component.Path(path), Items: c.items}, component.One(in)); err != nil {
				t.Errorf("%s of %s: %v", what, c.items, err)
				continue
			}
			if b, err := os.ReadFile(path); err != nil || string(b) != c.line {
				t.Errorf("%s of %s came out as %s, %v", what, c.items, b, err)
			}
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	for _, c := range []struct {
		sample dataset.Sample
		sink   jsonl.Sink
		want   string
	}{
		{dataset.NewSample(dataset.Field{Key: "image", Item: dataset.NewItem("png", image.NewGray(image.Rect(0, 0, 1, 1)))}), jsonl.Sink{}, "item image: an image cannot be written to JSON"},
		{dataset.NewSample(document("x", math.NaN())), jsonl.Sink{}, "item x: "},
		{dataset.NewSample(document("x", int64(1)), document("record", int64(1))), jsonl.Sink{Items: jsonl.Record}, "keep only that item"},
		{dataset.NewSample(document("x", int64(1))), jsonl.Sink{Items: jsonl.Record}, `item "record" not found`},
		{dataset.NewSample(document("x", int64(1))), jsonl.Sink{Files: map[string]string{"x": "path"}}, "the item is not a file"},
		{dataset.NewSample(document("a\xff", int64(1))), jsonl.Sink{}, "not UTF-8"},
	} {
		dir := t.TempDir()
		c.sink.Path = component.Path(filepath.Join(dir, "x.jsonl"))
		_, err := write(t, c.sink, component.One(dataset.List(dataset.NewSample(document("record", int64(0))).Only("record"), c.sample)))
		if c.sink.Items != jsonl.Record {
			_, err = write(t, c.sink, component.One(dataset.List(dataset.NewSample(), c.sample)))
		}
		var at *dataset.SampleError
		if !errors.As(err, &at) || at.Index != 1 || !strings.Contains(err.Error(), c.want) {
			t.Errorf("the error is %v, want %q", err, c.want)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

func TestWriteOutputs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	part := func(n int) component.Samples { return dataset.List(dataset.NewSample(document("n", int64(n)))) }
	data := component.Data{Names: []string{"red", "blue"}, Parts: []component.Samples{part(1), part(2)}}
	if _, err := write(t, jsonl.Sink{Path: component.Path(dir)}, data); err != nil {
		t.Fatal(err)
	}
	ds, err := jsonl.Source{}.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := showAll(t, ds); !slices.Equal(got, []string{"n=2", "n=1"}) {
		t.Errorf("came back as %q", got)
	}
	data.Names[0] = "../red"
	if _, err := write(t, jsonl.Sink{Path: component.Path(dir), Overwrite: output.Replace}, data); err == nil {
		t.Error("a name led out of the directory")
	}
}

// TestFileNamesComeBack checks that a source finds the files that a sink names by path.
func TestFileNamesComeBack(t *testing.T) {
	path := file(t, "deep/img/a.txt", "pixels")
	lines := filepath.Join(filepath.Dir(filepath.Dir(path)), "x.jsonl")
	ds := dataset.List(dataset.NewSample(dataset.Field{Key: "image", Item: dataset.File(path, nil)}))
	files := map[string]string{"image": "path"}
	if _, err := write(t, jsonl.Sink{Path: component.Path(lines), Files: files}, component.One(ds)); err != nil {
		t.Fatal(err)
	}
	back, err := jsonl.Source{Files: files}.Open(t.Context(), lines, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := showAll(t, back); !slices.Equal(got, []string{`path="img/a.txt" image=pixels`}) {
		t.Errorf("came back as %q", got)
	}
}

func TestSinkRefusesItsSource(t *testing.T) {
	path := file(t, "x.jsonl", "{}\n")
	reads := &pathguard.Inputs{}
	reads.Add(pathguard.Input{Owner: "node a", Path: path})
	env := &component.Env{Inputs: reads, Stats: new(dataset.NodeStats), Log: slog.New(slog.DiscardHandler)}
	err := jsonl.Sink{Path: component.Path(path), Overwrite: output.Replace}.Write(t.Context(), env, component.One(dataset.List[dataset.Sample]()))
	if err == nil || !strings.Contains(err.Error(), "refusing to write") {
		t.Errorf("the error is %v", err)
	}
}

// TestWhatWasWrittenComesBack checks that any documents survive.
func TestWhatWasWrittenComesBack(t *testing.T) {
	values := rapid.OneOf(rapid.Just[any](nil), rapid.Map(rapid.Int64(), func(n int64) any { return n }),
		rapid.Map(rapid.String(), func(s string) any { return s }), rapid.Map(rapid.Float64(), func(f float64) any { return f }))
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		docs := rapid.SliceOf(rapid.MapOf(rapid.String(), values)).Draw(rt, "docs")
		samples := make([]dataset.Sample, len(docs))
		for i, doc := range docs {
			for k, v := range doc {
				samples[i] = samples[i].With(document(k, v))
			}
		}
		path := filepath.Join(dir, "x.jsonl")
		if _, err := write(t, jsonl.Sink{Path: component.Path(path), Overwrite: output.Replace}, component.One(dataset.List(samples...))); err != nil {
			rt.Fatal(err)
		}
		ds, err := jsonl.Source{}.Open(t.Context(), path, nil)
		if err != nil || ds.Len() != len(docs) {
			rt.Fatal(ds, err)
		}
		for i, doc := range docs {
			s, err := ds.At(t.Context(), i)
			if err != nil || s.Len() != len(doc) {
				rt.Fatal(s.Keys(), err)
			}
			for k, v := range doc {
				if got, err := s.Value(t.Context(), k); err != nil || got != v {
					rt.Fatalf("%q: %v came back as %v, %v", k, v, got, err)
				}
			}
		}
	})
}

// FuzzRead checks that any file is read or refused.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"", "{\"a\":1}\n", "{\"a\":{\"b\":[1,2]}}\n\n[]", "\ufeff{}", "{\"path\":\"x\"}\r\n", "{\"a\":1", "\xff\n{"} {
		f.Add([]byte(seed), true)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, content []byte, fields bool) {
		path := filepath.Join(dir, fmt.Sprint("x", os.Getpid(), ".jsonl"))
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		source := jsonl.Source{Items: jsonl.Record, Files: map[string]string{"f": "path"}}
		if fields {
			source.Items = jsonl.Fields
		}
		ds, err := source.Open(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range ds.Len() {
			if s, err := ds.At(t.Context(), i); err == nil {
				show(t, s.Without("f"))
			} else if !strings.HasPrefix(err.Error(), path+":") {
				t.Errorf("the error does not name the line: %v", err)
			}
		}
	})
}

// TestLinesSayWhichTheyAre checks that lines in a directory are identified by the name of
// their file.
func TestLinesSayWhichTheyAre(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.jsonl": "{\"n\":1}\n", "b.jsonl": "\n{\"n\":2}\n{\"n\":3}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	ds, err := jsonl.Source{File: "from"}.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"map[name:a.jsonl row:0]", "map[name:b.jsonl row:0]", "map[name:b.jsonl row:1]"} {
		s, err := ds.At(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := s.Value(t.Context(), "from"); err != nil || fmt.Sprint(v) != want {
			t.Errorf("sample %d: %v, %v; want %s", i, v, err, want)
		}
	}
}
