package underfolder_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/format/underfolder"
	"github.com/larder-data/larder/internal/fs/pathguard"
)

// directory creates a directory of the given files.
func directory(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "set")
	if err := os.MkdirAll(filepath.Join(dir, "data"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(content), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// show describes every sample: its keys with their strings, shared ones marked.
func show(t testing.TB, ds component.Samples) []string {
	t.Helper()
	var all []string
	for s, err := range dataset.All(t.Context(), ds) {
		if err != nil {
			t.Fatal(err)
		}
		var items []string
		for f := range s.Fields() {
			b, err := f.Item.Bytes(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			mark := ""
			if f.Shared {
				mark = "*"
			}
			items = append(items, fmt.Sprintf("%s%s=%s", f.Key, mark, b))
		}
		slices.Sort(items)
		all = append(all, strings.Join(items, " "))
	}
	return all
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string
		warns string
		fails string
	}{
		{
			name:  "plain",
			files: map[string]string{"data/0_a.txt": "x", "data/1_a.txt": "y", "s.txt": "z"},
			want:  []string{"a=x s*=z", "a=y s*=z"},
		},
		{name: "empty", want: nil},
		{
			name:  "indices of different width, a key with _",
			files: map[string]string{"data/00_a_b.txt": "x", "data/1_a_b.txt": "y"},
			want:  []string{"a_b=x", "a_b=y"},
		},
		{
			name:  "a gap is a sample with shared items only",
			files: map[string]string{"data/0_a.txt": "x", "data/2_a.txt": "y", "s.txt": "z"},
			want:  []string{"a=x s*=z", "s*=z", "a=y s*=z"},
		},
		{
			name:  "a key ends at the first dot, the extension starts at the last",
			files: map[string]string{"data/0_a.b.txt": "x"},
			want:  []string{"a=x"},
		},
		{
			name:  "unknown extensions are carried",
			files: map[string]string{"data/0_a.weird": "x", "s.other": "y"},
			want:  []string{"a=x s*=y"},
		},
		{
			name:  "the sample's own item counts, with a warning",
			files: map[string]string{"data/0_a.txt": "own", "data/1_b.txt": "y", "a.txt": "shared"},
			want:  []string{"a=own", "a*=shared b=y"},
			warns: "that of the sample is used",
		},
		{
			name:  "names that are no items are passed over, with a warning",
			files: map[string]string{"data/0_a.txt": "x", "data/-1_a.txt": "", "data/+0_b.txt": "", "data/٣_b.txt": "", "data/0_.txt": "", "data/x.txt": "", "data/0_c": "", "README": "", ".hidden.txt": "", "data/sub/0_d.txt": "", "other/x.txt": ""},
			want:  []string{"a=x"},
			warns: "are ignored",
		},
		{
			name:  "one item twice",
			files: map[string]string{"data/0_a.txt": "x", "data/00_a.txt": "y"},
			fails: "sample 0 has item a twice, in 00_a.txt and 0_a.txt",
		},
		{
			name:  "one item twice, under two extensions",
			files: map[string]string{"data/0_a.txt": "x", "data/0_a.json": "y"},
			fails: "sample 0 has item a twice",
		},
		{
			name:  "a huge index",
			files: map[string]string{"data/0_a.txt": "x", "data/999999999_a.txt": "y"},
			fails: "999999999_a.txt gives 1000000000 samples for only 2 files",
		},
		{
			name:  "an index beyond all numbers",
			files: map[string]string{"data/0_a.txt": "x", "data/99999999999999999999_a.txt": "y"},
			want:  []string{"a=x"},
			warns: "are ignored",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log bytes.Buffer
			ds, err := underfolder.Open(directory(t, c.files), nil, slog.New(slog.NewTextHandler(&log, nil)))
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("the error is %v, want %q", err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := show(t, ds); !slices.Equal(got, c.want) {
				t.Errorf("read %q, want %q", got, c.want)
			}
			if (c.warns == "") != (log.Len() == 0) || !strings.Contains(log.String(), c.warns) {
				t.Errorf("the log is %q, want %q", log.String(), c.warns)
			}
		})
	}
}

func TestReadMissing(t *testing.T) {
	dir := t.TempDir()
	if _, err := underfolder.Open(filepath.Join(dir, "none"), nil, nil); err == nil || !strings.Contains(err.Error(), "no directory") {
		t.Errorf("a missing directory gives %v", err)
	}
	if _, err := underfolder.Open(dir, nil, nil); err == nil || !strings.Contains(err.Error(), "no directory data") {
		t.Errorf("a directory without data gives %v", err)
	}
}

// text returns a field with a string item.
func text(k, v string, shared bool) dataset.Field {
	return dataset.Field{Key: k, Item: dataset.NewItem("txt", v), Shared: shared}
}

// write writes samples, and returns the counters.
func write(t testing.TB, path string, o output.Overwrite, data component.Data) (*dataset.NodeStats, error) {
	t.Helper()
	env := &component.Env{Node: "out", Dir: t.TempDir(), Stats: new(dataset.NodeStats), Log: slog.New(slog.DiscardHandler)}
	err := underfolder.Sink{Path: component.Path(path), Overwrite: o}.Write(t.Context(), env, data)
	return env.Stats, err
}

// TestWriteRead writes samples and reads them back: nothing is lost or added, whatever is
// shared.
func TestWriteRead(t *testing.T) {
	for _, c := range []struct {
		name    string
		samples []dataset.Sample
		want    []string // output of show
		files   []string // in the root
	}{
		{
			name:    "own and shared",
			samples: []dataset.Sample{dataset.NewSample(text("a", "x", false), text("s", "z", true)), dataset.NewSample(text("a", "y", false), text("s", "z", true))},
			want:    []string{"a=x s*=z", "a=y s*=z"},
			files:   []string{"s.txt"},
		},
		{
			name:    "all items shared keep their number of samples",
			samples: []dataset.Sample{dataset.NewSample(text("s", "z", true)), dataset.NewSample(text("s", "z", true)), dataset.NewSample(text("s", "z", true))},
			want:    []string{"s*=z", "s*=z", "s*=z"},
			files:   []string{"s.txt"},
		},
		{
			name:    "samples without items at the end",
			samples: []dataset.Sample{dataset.NewSample(text("a", "x", false)), dataset.NewSample(), dataset.NewSample()},
			want:    []string{"a=x", "", ""},
		},
		{
			name:    "shared in some samples only",
			samples: []dataset.Sample{dataset.NewSample(text("s", "z", true)), dataset.NewSample(text("a", "y", false))},
			want:    []string{"s=z", "a=y"},
		},
		{
			name:    "shared, but with another content",
			samples: []dataset.Sample{dataset.NewSample(text("s", "z", true)), dataset.NewSample(text("s", "w", true))},
			want:    []string{"s=z", "s=w"},
		},
		{
			name:    "shared in one and own in another",
			samples: []dataset.Sample{dataset.NewSample(text("s", "z", true)), dataset.NewSample(text("s", "w", false))},
			want:    []string{"s=z", "s=w"},
		},
		{name: "no samples", samples: nil, want: nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "deep", "out")
			if _, err := write(t, path, output.Forbid, component.One(dataset.List(c.samples...))); err != nil {
				t.Fatal(err)
			}
			ds, err := underfolder.Open(path, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := show(t, ds); !slices.Equal(got, c.want) {
				t.Errorf("came back as %q, want %q", got, c.want)
			}
			if got := rootFiles(t, path); !slices.Equal(got, c.files) {
				t.Errorf("the root has %q, want %q", got, c.files)
			}
			if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); err != nil || len(left) > 0 {
				t.Errorf("left behind: %q, %v", left, err)
			}
		})
	}
}

// rootFiles lists the files in a directory that are not hidden.
func rootFiles(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestNamesAreZeroFilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	ds := dataset.Func(11, func(_ context.Context, i int) (dataset.Sample, error) {
		return dataset.NewSample(text("a", fmt.Sprint(i), false)), nil
	})
	if _, err := write(t, path, output.Forbid, component.One(ds)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"00_a.txt", "10_a.txt"} {
		if _, err := os.Stat(filepath.Join(path, "data", name)); err != nil {
			t.Error(err)
		}
	}
}

func TestOverwrite(t *testing.T) {
	one := component.One(dataset.List(dataset.NewSample(text("a", "new", false))))
	for _, c := range []struct {
		name  string
		there map[string]string // nil: no directory
		how   output.Overwrite
		fails string
		want  map[string]string
	}{
		{"forbid, new", nil, output.Forbid, "", map[string]string{"data/0_a.txt": "new"}},
		{"forbid, there", map[string]string{}, output.Forbid, "already exists", map[string]string{}},
		{"if-empty, full", map[string]string{"x.txt": "x"}, output.IfEmpty, "not empty", map[string]string{"x.txt": "x"}},
		{"new-files, other files", map[string]string{"data/7_b.txt": "old"}, output.NewFiles, "", map[string]string{"data/0_a.txt": "new", "data/7_b.txt": "old"}},
		{"new-files, same file", map[string]string{"data/0_a.txt": "old"}, output.NewFiles, "already exists", map[string]string{"data/0_a.txt": "old"}},
		{"overwrite-files", map[string]string{"data/0_a.txt": "old", "data/7_b.txt": "old"}, output.OverwriteFiles, "", map[string]string{"data/0_a.txt": "new", "data/7_b.txt": "old"}},
		{"replace", map[string]string{"data/0_a.txt": "old", "data/7_b.txt": "old"}, output.Replace, "", map[string]string{"data/0_a.txt": "new"}},
		{"replace what is not a dataset", map[string]string{"data/0_a.txt": "old", "thesis/chapter.txt": "x"}, output.Replace, "refusing to replace", map[string]string{"data/0_a.txt": "old", "thesis/chapter.txt": "x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out")
			if c.there != nil {
				path = directory(t, c.there)
			}
			_, err := write(t, path, c.how, one)
			if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
				t.Errorf("the error is %v, want %q", err, c.fails)
			}
			if got := files(t, path); !maps.Equal(got, c.want) {
				t.Errorf("the directory has %q, want %q", got, c.want)
			}
		})
	}
}

// files returns the content of all files below a directory that are not hidden.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestReplaceTouchesOnlyWhatChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	samples := func(second string) component.Data {
		return component.One(dataset.List(dataset.NewSample(text("a", "x", false)), dataset.NewSample(text("a", second, false))))
	}
	stat := func() os.FileInfo {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	if _, err := write(t, path, output.Replace, samples("y")); err != nil {
		t.Fatal(err)
	}
	first := stat()
	stats, err := write(t, path, output.Replace, samples("y"))
	if err != nil || stats.Computed.Load() != 0 || stats.FromStore.Load() != 2 || !os.SameFile(first, stat()) {
		t.Errorf("an equal dataset: %d written, %d not, error %v", stats.Computed.Load(), stats.FromStore.Load(), err)
	}
	stats, err = write(t, path, output.Replace, samples("z"))
	if err != nil || stats.Computed.Load() != 1 || stats.FromStore.Load() != 1 {
		t.Errorf("one sample changed: %d written, %d not, error %v", stats.Computed.Load(), stats.FromStore.Load(), err)
	}
	if got := files(t, path); !maps.Equal(got, map[string]string{"data/0_a.txt": "x", "data/1_a.txt": "z"}) {
		t.Errorf("the directory has %q", got)
	}
	if err := os.WriteFile(filepath.Join(path, "data", "0_a.txt"), []byte("tampered"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := write(t, path, output.Replace, samples("z")); err != nil {
		t.Fatal(err)
	}
	if got := files(t, path); !maps.Equal(got, map[string]string{"data/0_a.txt": "x", "data/1_a.txt": "z"}) {
		t.Errorf("after tampering the directory has %q", got)
	}
}

func TestFailedReplaceLeavesTheOldDirectory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	if _, err := write(t, path, output.Replace, component.One(dataset.List(dataset.NewSample(text("a", "x", false))))); err != nil {
		t.Fatal(err)
	}
	bad := dataset.Func(5, func(_ context.Context, i int) (dataset.Sample, error) {
		if i == 3 {
			return dataset.Sample{}, errors.New("boom")
		}
		return dataset.NewSample(text("a", "new", false)), nil
	})
	if _, err := write(t, path, output.Replace, component.One(bad)); err == nil {
		t.Fatal("no error")
	}
	if got := files(t, path); !maps.Equal(got, map[string]string{"data/0_a.txt": "x"}) {
		t.Errorf("the directory has %q", got)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestKeysStayInTheDirectory(t *testing.T) {
	for _, k := range []string{"../x", "a/b", "..", ".", "", ".hidden", "a.b", "a\\b", "a\x00b"} {
		for _, shared := range []bool{false, true} {
			dir := t.TempDir()
			_, err := write(t, filepath.Join(dir, "out"), output.Forbid, component.One(dataset.List(dataset.NewSample(text(k, "x", shared)))))
			var at *dataset.SampleError
			if !errors.As(err, &at) {
				t.Errorf("key %q: the error is %v", k, err)
			}
			if left := files(t, dir); len(left) > 0 {
				t.Errorf("key %q left %q", k, left)
			}
		}
	}
}

func TestGroups(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	part := func(v string) component.Samples {
		return dataset.List(dataset.NewSample(text("a", v, false), text("s", "z", true)))
	}
	data := component.Data{Names: []string{"red", "blue"}, Parts: []component.Samples{part("r"), part("b")}}
	for range 2 {
		if _, err := write(t, path, output.Replace, data); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{"red/data/0_a.txt": "r", "red/s.txt": "z", "blue/data/0_a.txt": "b", "blue/s.txt": "z"}
	if got := files(t, path); !maps.Equal(got, want) {
		t.Errorf("the directory has %q", got)
	}
	if _, err := underfolder.Open(path, nil, nil); err == nil || !strings.Contains(err.Error(), "red, blue") {
		t.Errorf("a directory of datasets opened as one: %v", err)
	}
	data.Names, data.Parts = data.Names[:1], data.Parts[:1]
	if _, err := write(t, path, output.Replace, data); err != nil {
		t.Fatal(err)
	}
	if got := files(t, path); len(got) != 2 {
		t.Errorf("a group that is gone is still there: %q", got)
	}
	data.Names[0] = "../red"
	if _, err := write(t, path, output.Replace, data); err == nil {
		t.Error("a group's name led out of the directory")
	}
}

func TestReplaceKeepsWhatPeopleAdded(t *testing.T) {
	parts := component.Data{Names: []string{"a"}, Parts: []component.Samples{dataset.List(dataset.NewSample(text("x", "1", false)))}}
	for _, added := range []string{"notes/thesis.txt", "a/notes/thesis.txt", "a/data/notes/thesis.txt"} {
		path := filepath.Join(t.TempDir(), "out")
		if _, err := write(t, path, output.Replace, parts); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(path, added)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte("years"), 0o666)); err != nil {
			t.Fatal(err)
		}
		if _, err := write(t, path, output.Replace, parts); err == nil || !strings.Contains(err.Error(), "notes") {
			t.Errorf("%s: the error is %v", added, err)
		}
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
}

// TestReplaceKeepsWhatIsNoItem checks that the files of a directory make it a dataset, not
// a directory called data.
func TestReplaceKeepsWhatIsNoItem(t *testing.T) {
	data := component.One(dataset.List(dataset.NewSample(text("x", "1", false), text("all", "2", true))))
	for _, added := range []string{"notes", "Makefile", ".env", "thesis.docx", "notes.md", "data/notes.md", "data/README", "data/x_y.z", "data/0_m.yaml~", "data/.hidden", "data/0_", "data/2024_report.pdf", "data/0_report.pdf", "data/7_x.txt", "notes.txt"} {
		path := filepath.Join(t.TempDir(), "out")
		if _, err := write(t, path, output.Replace, data); err != nil {
			t.Fatal(err)
		}
		if _, err := write(t, path, output.Replace, data); err != nil {
			t.Fatal("a dataset of its own is not replaced: ", err)
		}
		file := filepath.Join(path, added)
		if err := os.WriteFile(file, []byte("years"), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := write(t, path, output.Replace, data); err == nil || !strings.Contains(err.Error(), filepath.Base(added)) {
			t.Errorf("%s: the error is %v", added, err)
		}
		if b, err := os.ReadFile(file); err != nil || string(b) != "years" {
			t.Errorf("%s: %q, %v", added, b, err)
		}
	}
	// This one was written by another program.
	path := t.TempDir()
	for name, text := range map[string]string{"data/0_x.txt": "1", "all.json": "{}", "notes.docx": "years"} {
		file := filepath.Join(path, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := write(t, path, output.Replace, data); err == nil || !strings.Contains(err.Error(), "notes.docx") {
		t.Errorf("the error is %v", err)
	}
	if err := os.Remove(filepath.Join(path, "notes.docx")); err != nil {
		t.Fatal(err)
	}
	if _, err := write(t, path, output.Replace, data); err != nil {
		t.Error(err)
	}
}

// TestReplaceAfterWritingInPlace checks that a dataset is replaced together with files that
// were written into it.
func TestReplaceAfterWritingInPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	one := component.One(dataset.List(dataset.NewSample(text("x", "1", false))))
	two := component.One(dataset.List(dataset.NewSample(text("y", "2", false)), dataset.NewSample(text("x", "2", false))))
	for _, added := range []component.Data{component.One(dataset.List(dataset.NewSample(text("y", "2", false)))), two} {
		for _, how := range []output.Overwrite{output.Replace, output.NewFiles, output.Replace} {
			data := one
			if how == output.NewFiles {
				data = added
			}
			if _, err := write(t, path, how, data); err != nil {
				t.Fatalf("%s: %v", how, err)
			}
		}
		if got := files(t, path); !maps.Equal(got, map[string]string{"data/0_x.txt": "1"}) {
			t.Errorf("the directory has %q", got)
		}
	}
}

func TestInPlaceStaysReadable(t *testing.T) {
	many := func(n int, ext string) component.Data {
		return component.One(dataset.Func(n, func(_ context.Context, i int) (dataset.Sample, error) {
			return dataset.NewSample(dataset.Field{Key: "a", Item: dataset.NewItem(ext, fmt.Sprint(n, i))}), nil
		}))
	}
	path := filepath.Join(t.TempDir(), "out")
	if _, err := write(t, path, output.Forbid, many(10, "txt")); err != nil {
		t.Fatal(err)
	}
	if _, err := write(t, path, output.OverwriteFiles, many(12, "txt")); err == nil || !strings.Contains(err.Error(), "1 digits") {
		t.Errorf("indices of two widths: %v", err)
	}
	if _, err := write(t, path, output.NewFiles, many(3, "json")); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("an item under two extensions: %v", err)
	}
	if _, err := write(t, path, output.OverwriteFiles, many(3, "json")); err != nil {
		t.Error(err)
	}
	ds, err := underfolder.Open(path, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := show(t, ds); len(got) != 10 || got[0] != `a="3 0"`+"" && !strings.Contains(got[0], "3 0") || got[9] != "a=10 9" {
		t.Errorf("the directory has %q", got)
	}
}

func TestInterruptedReplaceIsRecovered(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	one := component.One(dataset.List(dataset.NewSample(text("a", "x", false))))
	if _, err := write(t, path, output.Replace, one); err != nil {
		t.Fatal(err)
	}
	// A writer killed between its two moves leaves this where two directories cannot be
	// exchanged atomically.
	if err := os.Rename(path, filepath.Join(dir, ".out.larder-123-old")); err != nil {
		t.Fatal(err)
	}
	bad := component.One(dataset.Func(1, func(context.Context, int) (dataset.Sample, error) {
		return dataset.Sample{}, errors.New("boom")
	}))
	if _, err := write(t, path, output.Replace, bad); err == nil {
		t.Fatal("no error")
	}
	if got := files(t, path); !maps.Equal(got, map[string]string{"data/0_a.txt": "x"}) {
		t.Errorf("the directory has %q", got)
	}
}

func TestTargetThatIsALink(t *testing.T) {
	dir := t.TempDir()
	one := component.One(dataset.List(dataset.NewSample(text("a", "x", false))))
	link := filepath.Join(dir, "link")
	if err := os.Symlink("real", link); err != nil { // the target does not exist
		t.Fatal(err)
	}
	for range 2 {
		if _, err := write(t, link, output.Replace, one); err != nil {
			t.Fatal(err)
		}
	}
	if to, err := os.Readlink(link); to != "real" || err != nil {
		t.Errorf("the link is %q, %v", to, err)
	}
	if got := files(t, filepath.Join(dir, "real")); len(got) != 1 {
		t.Errorf("the directory has %q", got)
	}
}

// TestTwoWritersWithoutTurns checks that writers without a common cache leave each other's
// unfinished directories alone.
func TestTwoWritersWithoutTurns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	inner := component.One(dataset.List(dataset.NewSample(text("a", "x", false))))
	outer := component.One(dataset.Func(1, func(context.Context, int) (dataset.Sample, error) {
		_, err := write(t, path, output.Replace, inner) // while the other one writes
		return dataset.NewSample(text("a", "y", false)), err
	}))
	if _, err := write(t, path, output.Replace, outer); err != nil && !strings.Contains(err.Error(), "file exists") {
		t.Error(err)
	}
	if got := files(t, path); len(got) != 1 {
		t.Errorf("the directory has %q", got)
	}
}

// TestKeysComeBack checks odd keys that can be names of files.
func TestKeysComeBack(t *testing.T) {
	for _, k := range []string{"_", "a_b_", "con", "0_a", "data", "naïve", "a b", "-", "a\xffb", strings.Repeat("k", 240)} {
		for _, shared := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "out")
			if _, err := write(t, path, output.Forbid, component.One(dataset.List(dataset.NewSample(text(k, "x", shared))))); err != nil {
				t.Errorf("key %q: %v", k, err)
				continue
			}
			s, err := open(t, path).At(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			if f, ok := s.Field(k); !ok || f.Shared != shared || s.Len() != 1 {
				t.Errorf("key %q came back as %q", k, s.Keys())
			}
		}
	}
	long := strings.Repeat("k", 300)
	if _, err := write(t, filepath.Join(t.TempDir(), "out"), output.Forbid, component.One(dataset.List(dataset.NewSample(text(long, "x", false))))); err == nil || !strings.Contains(err.Error(), "the file name of 306 bytes exceeds 255") {
		t.Errorf("a long key gives %v", err)
	}
}

// TestFewFilesOfManySamples checks that the mark confirms an index that would otherwise
// count as a mistake.
func TestFewFilesOfManySamples(t *testing.T) {
	const n = 5000
	path := filepath.Join(t.TempDir(), "out")
	ds := dataset.Func(n, func(_ context.Context, i int) (dataset.Sample, error) {
		if i < n-1 {
			return dataset.NewSample(), nil
		}
		return dataset.NewSample(text("a", "last", false)), nil
	})
	if _, err := write(t, path, output.Forbid, component.One(ds)); err != nil {
		t.Fatal(err)
	}
	back := open(t, path)
	if s, err := back.At(t.Context(), n-1); err != nil || back.Len() != n || s.Len() != 1 {
		t.Errorf("%d samples, the last has %q, %v", back.Len(), s.Keys(), err)
	}
}

func TestEmptyDatasetReplaces(t *testing.T) {
	path := directory(t, map[string]string{"data/0_a.txt": "old", "s.txt": "old"})
	if _, err := write(t, path, output.Replace, component.One(dataset.List[dataset.Sample]())); err != nil {
		t.Fatal(err)
	}
	if got := files(t, path); len(got) != 0 || open(t, path).Len() != 0 {
		t.Errorf("the directory has %q", got)
	}
}

func TestDataMayBeALink(t *testing.T) {
	real := directory(t, map[string]string{"data/0_a.txt": "x"})
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(real, "data"), filepath.Join(dir, "data")); err != nil {
		t.Fatal(err)
	}
	if got := show(t, open(t, dir)); !slices.Equal(got, []string{"a=x"}) {
		t.Errorf("read %q", got)
	}
}

func TestSinkRefusesItsSource(t *testing.T) {
	from := directory(t, map[string]string{"data/0_a.txt": "x"})
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(from, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{from, from + "/inside", filepath.Dir(from), link, link + "/x"} {
		for _, how := range []output.Overwrite{output.Replace, output.OverwriteFiles, output.NewFiles} {
			reads := &pathguard.Inputs{}
			reads.Add(pathguard.Input{Owner: "node a", Path: from})
			env := &component.Env{Inputs: reads, Stats: new(dataset.NodeStats), Log: slog.New(slog.DiscardHandler)}
			err := underfolder.Sink{Path: component.Path(path), Overwrite: how}.Write(t.Context(), env, component.One(open(t, from)))
			if err == nil || !strings.Contains(err.Error(), "refusing to write") {
				t.Errorf("%s, %s: %v", path, how, err)
			}
		}
	}
	if got := files(t, from); !maps.Equal(got, map[string]string{"data/0_a.txt": "x"}) {
		t.Errorf("the source has %q", got)
	}
}

func TestMarkOfTooManySamples(t *testing.T) {
	dir := directory(t, map[string]string{"data/0_a.txt": "x", ".larder.json": `{"format":"underfolder","version":1,"samples":100000000000}`})
	if _, err := underfolder.Open(dir, nil, nil); err == nil || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("the error is %v", err)
	}
}

// TestPicks checks that a file changes the dataset if and only if Picks accepts it.
func TestPicks(t *testing.T) {
	base := map[string]string{"data/0_a.txt": "0", "data/1_a.txt": "1", "s.txt": "s"}
	for name, want := range map[string]bool{
		"data/2_a.txt": true, "data/0_b.txt": true, "data/0_b.c.txt": true, "t.json": true, ".larder.json": true,
		"data/a.txt": false, "data/x_a.txt": false, "data/3_a": false, "data/.4_a.txt": false, "data/5_.txt": false, "data/data/6_a.txt": false,
		"readme": false, ".t.json": false, "other/7_a.txt": false, "other/t.json": false,
	} {
		with := maps.Clone(base)
		with[name] = `{"format": "underfolder", "version": 1, "samples": 9}`
		dir, other := directory(t, base), directory(t, with)
		a, err := underfolder.Open(dir, nil, slog.New(slog.DiscardHandler))
		b, berr := underfolder.Open(other, nil, slog.New(slog.DiscardHandler))
		if err := errors.Join(err, berr); err != nil {
			t.Fatal(err)
		}
		differs := !slices.Equal(show(t, a), show(t, b))
		if picks := (underfolder.Source{}).Picks(name); picks != want || differs != want {
			t.Errorf("%s: picked is %v and makes a difference is %v, want %v", name, picks, differs, want)
		}
	}
}
