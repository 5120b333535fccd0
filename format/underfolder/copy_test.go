package underfolder_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/filecopy"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/format/underfolder"
	"github.com/larder-data/larder/pool"
)

// writeCopy writes with a copy policy, and returns the counters and the log.
func writeCopy(t testing.TB, s underfolder.Sink, ds component.Samples) (*dataset.NodeStats, string) {
	t.Helper()
	var log bytes.Buffer
	env := &component.Env{Node: "out", Stats: new(dataset.NodeStats), Log: slog.New(slog.NewTextHandler(&log, nil))}
	if err := s.Write(t.Context(), env, component.One(ds)); err != nil {
		t.Fatal(err)
	}
	return env.Stats, log.String()
}

func open(t testing.TB, dir string) component.Samples {
	t.Helper()
	ds, err := underfolder.Open(dir, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

// TestCopyPolicies checks the kind of files that each policy creates. Damaged images pass,
// because no policy decodes.
func TestCopyPolicies(t *testing.T) {
	from := directory(t, map[string]string{"data/0_image.png": "not decoded", "data/0_odd.weird": "bytes", "s.yml": "# a comment\na: 1\n"})
	for _, c := range []struct {
		copy         filecopy.Way
		same, isLink bool
	}{
		{"", false, false}, {filecopy.Reflink, false, false}, {filecopy.HardLink, true, false}, {filecopy.SymbolicLink, true, true},
	} {
		t.Run(string(c.copy), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out")
			sink := underfolder.Sink{Path: component.Path(path), Overwrite: output.Replace, Copy: c.copy}
			writeCopy(t, sink, open(t, from))
			for name, want := range files(t, from) {
				out, in := filepath.Join(path, name), filepath.Join(from, name)
				if b, err := os.ReadFile(out); err != nil || string(b) != want {
					t.Errorf("%s holds %q, %v", name, b, err)
				}
				if filecopy.Linked(out, in) != c.same {
					t.Errorf("%s is the source's file: %v, want %v", name, !c.same, c.same)
				}
				info, err := os.Lstat(out)
				if err != nil || (info.Mode()&os.ModeSymlink != 0) != c.isLink {
					t.Errorf("%s is %v, %v", name, info.Mode(), err)
				}
			}
			if stats, _ := writeCopy(t, sink, open(t, from)); stats.Computed.Load() != 0 {
				t.Error("the same dataset was written again")
			}
		})
	}
}

// TestLinksBecomeCopies checks that existing links become copies on request. Otherwise
// writes to the output would change the source.
func TestLinksBecomeCopies(t *testing.T) {
	from := directory(t, map[string]string{"data/0_a.txt": "x", "s.txt": "y"})
	for _, link := range []filecopy.Way{filecopy.HardLink, filecopy.SymbolicLink} {
		for _, how := range []output.Overwrite{output.Replace, output.OverwriteFiles} {
			path := filepath.Join(t.TempDir(), "out")
			writeCopy(t, underfolder.Sink{Path: component.Path(path), Copy: link}, open(t, from))
			writeCopy(t, underfolder.Sink{Path: component.Path(path), Overwrite: how}, open(t, from))
			for _, name := range []string{"data/0_a.txt", "s.txt"} {
				if filecopy.Linked(filepath.Join(path, name), filepath.Join(from, name)) {
					t.Errorf("%s, %s: %s is still the source's", link, how, name)
				}
			}
			if got := files(t, from); got["data/0_a.txt"] != "x" || got["s.txt"] != "y" {
				t.Errorf("the source has %q", got)
			}
		}
	}
}

// TestLinkOnAnotherDevice checks that a link that cannot be made becomes a copy, with one
// warning.
func TestLinkOnAnotherDevice(t *testing.T) {
	from, err := os.MkdirTemp("/dev/shm", "larder-test-") //nolint:usetesting // on another file system
	if err != nil {
		t.Skip("there is no second file system:", err)
	}
	defer os.RemoveAll(from)
	if err := os.Mkdir(filepath.Join(from, "data"), 0o777); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := os.WriteFile(filepath.Join(from, "data", fmt.Sprintf("%d_a.txt", i)), []byte("x"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "out")
	if os.Link(filepath.Join(from, "data/0_a.txt"), path) == nil {
		t.Skip("there is no second file system")
	}
	_, log := writeCopy(t, underfolder.Sink{Path: component.Path(path), Copy: filecopy.HardLink}, open(t, from))
	if strings.Count(log, "links cannot be created") != 1 {
		t.Errorf("the log is %q", log)
	}
	if got := files(t, path); len(got) != 3 || got["data/2_a.txt"] != "x" {
		t.Errorf("the directory has %q", got)
	}
}

func TestRewrite(t *testing.T) {
	from := directory(t, map[string]string{"data/0_a.json": "{ \"b\": 1,\n \"a\": 2 }", "data/0_odd.weird": "bytes"})
	path := filepath.Join(t.TempDir(), "out")
	sink := underfolder.Sink{Path: component.Path(path), Overwrite: output.Replace, Copy: filecopy.Rewrite}
	writeCopy(t, sink, open(t, from))
	if got := files(t, path); got["data/0_a.json"] != `{"a":2,"b":1}` || got["data/0_odd.weird"] != "bytes" {
		t.Errorf("the directory has %q", got)
	}
	if stats, _ := writeCopy(t, sink, open(t, from)); stats.Computed.Load() != 0 {
		t.Error("the same dataset was written again")
	}
	bad := directory(t, map[string]string{"data/0_a.webp": "RIFF"})
	env := &component.Env{Node: "out", Stats: new(dataset.NodeStats), Log: slog.New(slog.DiscardHandler)}
	var at *dataset.SampleError
	if err := sink.Write(t.Context(), env, component.One(open(t, bad))); !errors.As(err, &at) {
		t.Errorf("what cannot be decoded gives %v", err)
	}
}

// TestExtensions checks that an item keeps its extension, in lower case where readers
// depend on it.
func TestExtensions(t *testing.T) {
	from := directory(t, map[string]string{"data/0_a.JPG": "x", "data/0_b.Weird": "y", "data/0_c.tar.gz": "z"})
	path := filepath.Join(t.TempDir(), "out")
	img := dataset.NewItem("jpeg", image.NewGray(image.Rect(0, 0, 1, 1)))
	s, err := open(t, from).At(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	writeCopy(t, underfolder.Sink{Path: component.Path(path)}, dataset.List(s.WithItem("d", img)))
	got := files(t, path)
	for _, name := range []string{"data/0_a.jpg", "data/0_b.Weird", "data/0_c.gz", "data/0_d.jpeg"} {
		if _, ok := got[name]; !ok {
			t.Errorf("there is no %s", name)
		}
	}
}

// TestStoppedSinkGoesOn checks that samples completed before the sink was stopped or killed
// are not written again, and incomplete ones are.
func TestStoppedSinkGoesOn(t *testing.T) {
	const n = 20
	path := filepath.Join(t.TempDir(), "out")
	run := func(ctx context.Context, at func(i int)) (*dataset.NodeStats, error) {
		ds := dataset.Func(n, func(_ context.Context, i int) (dataset.Sample, error) {
			at(i)
			return dataset.NewSample(text("a", fmt.Sprint("value ", i), false), text("s", "shared", true)), nil
		})
		env := &component.Env{Node: "out", Stats: new(dataset.NodeStats), Log: slog.New(slog.DiscardHandler), Pool: pool.New(1)}
		return env.Stats, underfolder.Sink{Path: component.Path(path)}.Write(ctx, env, component.One(ds))
	}
	for range 2 { // stopped twice: the second run continues the first
		ctx, stop := context.WithCancel(t.Context())
		if _, err := run(ctx, func(i int) {
			if i == 12 {
				stop()
			}
		}); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		stop()
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Fatalf("an unfinished dataset is at its place: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".out.larder-*", "data", "03_a.txt"))
	if err != nil || len(left) != 1 {
		t.Fatalf("left behind: %q, %v", left, err)
	}
	if err := os.WriteFile(left[0], []byte("val"), 0o666); err != nil { // killed in the middle
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(left[0]), "07_old.txt"), []byte("of another dataset"), 0o666); err != nil {
		t.Fatal(err)
	}
	stats, err := run(t.Context(), func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	const damaged, missing = 1, n - 13 // 0 to 12 were complete
	if again := stats.Computed.Load(); again != damaged+missing {
		t.Errorf("%d samples were written, want %d", again, damaged+missing)
	}
	got := files(t, path)
	for i := range n {
		if name := fmt.Sprintf("data/%02d_a.txt", i); got[name] != fmt.Sprint("value ", i) {
			t.Errorf("%s is %q", name, got[name])
		}
	}
	if len(got) != n+1 {
		t.Errorf("the directory has %q", got)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestInPlaceGoesOn checks that existing files are not written again, and that incomplete
// files of a killed writer are deleted.
func TestInPlaceGoesOn(t *testing.T) {
	path := directory(t, map[string]string{"data/0_a.txt": "x", "data/.larder-999999999-1": "hal"})
	ds := dataset.List(dataset.NewSample(text("a", "x", false)), dataset.NewSample(text("a", "y", false)))
	stats, _ := writeCopy(t, underfolder.Sink{Path: component.Path(path), Overwrite: output.OverwriteFiles}, ds)
	if stats.Computed.Load() != 1 || stats.FromStore.Load() != 1 {
		t.Errorf("%d written, %d not", stats.Computed.Load(), stats.FromStore.Load())
	}
	entries, err := os.ReadDir(filepath.Join(path, "data"))
	if err != nil || len(entries) != 2 {
		t.Errorf("the directory has %v, %v", entries, err)
	}
}

// TestInPlaceKeepsTheLength checks that samples without own items are not lost in an
// existing directory.
func TestInPlaceKeepsTheLength(t *testing.T) {
	path := directory(t, nil)
	shared := dataset.NewSample(text("s", "z", true))
	writeCopy(t, underfolder.Sink{Path: component.Path(path), Overwrite: output.NewFiles}, dataset.List(shared, shared, shared))
	if got := show(t, open(t, path)); len(got) != 3 {
		t.Errorf("came back as %q", got)
	}
}

// TestInPlaceSharedItemCounts checks that existing files of samples do not hide a shared
// item of the same key.
func TestInPlaceSharedItemCounts(t *testing.T) {
	path := directory(t, map[string]string{"data/0_s.txt": "old", "data/1_s.txt": "old", "data/2_s.txt": "old"})
	shared := dataset.NewSample(text("s", "new", true))
	writeCopy(t, underfolder.Sink{Path: component.Path(path), Overwrite: output.OverwriteFiles}, dataset.List(shared, shared))
	if got := show(t, open(t, path)); !slices.Equal(got, []string{"s=new", "s=new", "s=old"}) {
		t.Errorf("came back as %q", got)
	}
}

// TestFilesInTheTarget checks that files from which items are read are not overwritten,
// also if no source reports them.
func TestFilesInTheTarget(t *testing.T) {
	path := directory(t, map[string]string{"data/0_a.txt": "x"})
	ds := dataset.List(dataset.NewSample(dataset.Field{Key: "b", Item: dataset.File(filepath.Join(path, "data", "0_a.txt"), nil)}))
	for _, how := range []output.Overwrite{output.Replace, output.OverwriteFiles} {
		if _, err := write(t, path, how, component.One(ds)); err == nil || !strings.Contains(err.Error(), "refusing to write") {
			t.Errorf("%s: %v", how, err)
		}
		if got := files(t, path); len(got) != 1 {
			t.Errorf("%s: the directory has %q", how, got)
		}
	}
}

// TestLinkToARelativePath checks that the link leads to the source.
func TestLinkToARelativePath(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("a.txt", []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "deep", "out")
	ds := dataset.List(dataset.NewSample(dataset.Field{Key: "a", Item: dataset.File("a.txt", nil)}))
	writeCopy(t, underfolder.Sink{Path: component.Path(path), Copy: filecopy.SymbolicLink}, ds)
	if got := files(t, path); got["data/0_a.txt"] != "x" {
		t.Errorf("the directory has %q", got)
	}
}

// TestReplacedWhileItIsRead checks that a dataset that replaces its input during the read
// is not written in part, under any copy policy.
func TestReplacedWhileItIsRead(t *testing.T) {
	for _, how := range []filecopy.Way{filecopy.Reflink, filecopy.HardLink, filecopy.SymbolicLink, filecopy.Rewrite} {
		for _, name := range []string{"", "data"} { // the part that is replaced
			from := directory(t, map[string]string{"data/0_x.txt": "old", "data/1_x.txt": "old", "s.txt": "old"})
			next := directory(t, map[string]string{"data/0_x.txt": "new", "data/1_x.txt": "new", "s.txt": "new"})
			ds := open(t, from)
			replaced := dataset.Func(ds.Len(), func(ctx context.Context, i int) (dataset.Sample, error) {
				if i == 1 {
					was := filepath.Join(from, name)
					if err := errors.Join(os.Rename(was, was+"-old"), os.Rename(filepath.Join(next, name), was)); err != nil {
						return dataset.Sample{}, err
					}
				}
				return ds.At(ctx, i)
			})
			path := filepath.Join(t.TempDir(), "out")
			env := &component.Env{Node: "out", Stats: new(dataset.NodeStats), Log: slog.New(slog.DiscardHandler), Pool: pool.New(1)}
			err := underfolder.Sink{Path: component.Path(path), Copy: how}.Write(t.Context(), env, component.One(replaced))
			if !errors.Is(err, dataset.ErrChanged) || !strings.Contains(err.Error(), from) {
				t.Errorf("%s of %q: the error is %v", how, name, err)
			}
			if _, err := os.Lstat(path); err == nil {
				t.Errorf("%s of %q: something was written", how, name)
			}
		}
	}
}
