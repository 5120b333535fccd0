package output_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/format/output"
)

func TestSafeName(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "a.b": true, "a b": true, "ä": true, "": false, ".": false, "..": false, ".a": false,
		"a/b": false, "/a": false, `a\b`: false, "a\x00": false, "../a": false,
	} {
		if got := output.SafeName(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}

// content returns the content of all files in a directory.
func content(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all += fmt.Sprintf("%s=%s ", e.Name(), b)
	}
	return all
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	write := func(how output.Overwrite, text string, fail error) (int64, error) {
		return output.WriteFile(t.Context(), path, how, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return errors.Join(err, fail)
		})
	}
	// A killed writer left this file.
	if err := os.WriteFile(filepath.Join(dir, ".x.larder-123"), []byte("hal"), 0o666); err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	for _, c := range []struct {
		how  output.Overwrite
		text string
		fail error
		n    int64
		err  error
		want string
	}{
		{output.Forbid, "one", boom, 0, boom, ""},
		{output.Forbid, "one", nil, 3, nil, "x=one "},
		{output.Forbid, "two", nil, 0, fs.ErrExist, "x=one "},
		{output.Replace, "two", boom, 0, boom, "x=one "},
		{output.Replace, "three", nil, 5, nil, "x=three "},
		{output.Replace, "three", nil, 0, nil, "x=three "},
	} {
		n, err := write(c.how, c.text, c.fail)
		if n != c.n || !errors.Is(err, c.err) {
			t.Errorf("%s %q: %d bytes, error %v; want %d, %v", c.how, c.text, n, err, c.n, c.err)
		}
		if got := content(t, dir); got != c.want {
			t.Errorf("%s %q: the directory has %q, want %q", c.how, c.text, got, c.want)
		}
	}
}

// TestWriteFileMeetsAnother checks that a file that appeared during the write is replaced
// only on request.
func TestWriteFileMeetsAnother(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	_, err := output.WriteFile(t.Context(), path, output.Forbid, func(io.Writer) error {
		return os.WriteFile(path, []byte("theirs"), 0o666)
	})
	if got := content(t, dir); !errors.Is(err, fs.ErrExist) || got != "x=theirs " {
		t.Errorf("the directory has %q, error %v", got, err)
	}
}

func TestStaleIsOnlyOfTheDead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	resume := func() *output.Directory {
		f, err := output.ResumeDir(path)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	alive := resume()
	for _, name := range []string{".x.larder-1", ".x.larder-3-old", ".x.larder-", ".x.larder-4a", ".y.larder-5", "x.larder-6"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	first, second := resume(), resume()
	left := first.Left()
	slices.Sort(left)
	if want := []string{filepath.Join(dir, ".x.larder-1"), filepath.Join(dir, ".x.larder-3-old")}; !slices.Equal(left, want) {
		t.Errorf("taken: %v", left)
	}
	if again := second.Left(); len(again) != 0 {
		t.Errorf("taken twice: %v", again)
	}
	first.Leave()
	third := resume()
	if left := third.Left(); len(left) != 3 || !slices.Contains(left, first.Dir) {
		t.Errorf("taken of what was left: %v", left)
	}
	second.Discard()
	third.Discard()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 5 || !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == filepath.Base(alive.Dir) }) {
		t.Errorf("left in the end: %v, %v", entries, err)
	}
	alive.Discard()
}

// TestDirectory checks that a directory appears in one step, and that an old one is deleted
// only if allowed.
func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "deep", "x")
	refused := errors.New("not that one")
	for i, c := range []struct {
		replace func(string) error
		err     error
		want    string
	}{
		{nil, nil, "0"},
		{nil, fs.ErrExist, "0"},
		{func(old string) error {
			if _, err := os.Stat(filepath.Join(old, "0")); err != nil || old == path {
				t.Errorf("asked about %s: %v", old, err)
			}
			return refused
		}, refused, "0"},
		{func(string) error { return nil }, nil, "3"},
	} {
		f, err := output.StageDir(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(f.Dir, fmt.Sprint(i)), nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := f.Publish(c.replace); !errors.Is(err, c.err) {
			t.Errorf("%d: %v", i, err)
		}
		f.Discard()
		if got, err := os.ReadDir(path); err != nil || len(got) != 1 || got[0].Name() != c.want {
			t.Errorf("%d: the directory has %v, %v", i, got, err)
		}
		if adjacent, err := os.ReadDir(filepath.Dir(path)); err != nil || len(adjacent) != 1 {
			t.Errorf("%d: next to it are %v, %v", i, adjacent, err)
		}
	}
}

// TestManyFilesAreTidiedAtOnce checks that files of killed writers are deleted in one pass,
// and that later writes do not scan again.
func TestManyFilesAreTidiedAtOnce(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{".x.larder-1", ".y.larder-2", ".y.larder-3-old", ".z.larder-4", ".x.larder-5.larder-6", "left"} {
		if err := os.WriteFile(in(name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	names := func() (all []string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			all = append(all, e.Name())
		}
		return all
	}
	files := func(directory string) output.Files {
		f, err := output.FilesAt(t.Context(), &component.Env{}, component.Path(directory))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	if err := files(dir).Tidy(func(name string) bool { return name == "x" || name == "y" }); err != nil {
		t.Fatal(err)
	}
	if got, want := names(), []string{".x.larder-5.larder-6", ".z.larder-4", "left"}; !slices.Equal(got, want) {
		t.Errorf("left are %q, want %q", got, want)
	}
	write := func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }
	if _, err := files(dir).Write(t.Context(), "z", output.Forbid, write); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(names(), ".z.larder-4") {
		t.Error("a file that is written after the others scans the directory again")
	}
	if err := files(in("none")).Tidy(func(name string) bool { return name == "x" }); err != nil {
		t.Errorf("in no directory: %v", err)
	}
}
