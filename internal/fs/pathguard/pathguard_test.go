package pathguard_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/larder-data/larder/internal/fs/pathguard"
)

// lay creates files and, for names that end in "@", links to the text.
func lay(t *testing.T, dir string, all map[string]string) {
	t.Helper()
	for name, text := range all {
		path := filepath.Join(dir, strings.TrimSuffix(name, "@"))
		err := os.MkdirAll(filepath.Dir(path), 0o777)
		if path == filepath.Join(dir, name) {
			err = errors.Join(err, os.WriteFile(path, []byte(text), 0o666))
		} else {
			err = errors.Join(err, os.Symlink(text, path))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// refused reports whether an output is refused for an input, in a directory.
func refused(t *testing.T, dir string, in pathguard.Input, out pathguard.Output) bool {
	t.Helper()
	in.Owner, in.Path = "node in", filepath.Join(dir, in.Path)
	out.Owner, out.Path = "node out", filepath.Join(dir, out.Path)
	var reads pathguard.Inputs
	reads.Add(in)
	err := reads.Check(t.Context(), out)
	if err != nil {
		if !errors.Is(err, pathguard.ErrConflict) {
			t.Fatal(err)
		}
		for _, name := range []string{in.Path, out.Path, in.Owner, out.Owner} {
			if !strings.Contains(err.Error(), name) {
				t.Errorf("the error does not name %s: %v", name, err)
			}
		}
	}
	return err != nil
}

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{
		"orig/data/0": "", "orig/data/1": "", "out/x": "", "elsewhere/f": "",
		"links/0@": "../orig/data/0", "links/new@": "../out/of/nothing", "links/loop@": "loop",
		"hops/0@": "../out/hop", "out/hop@": "../orig/data/1",
		"through/0@": "../out/dir/0", "out/dir@": "../orig/data",
		"file@": "orig/data/0", "directory@": "orig", "folders/in@": "../elsewhere",
		"chain@": "out/chain", "out/chain@": "../elsewhere",
	})
	tree := func(path string) pathguard.Input { return pathguard.Input{Path: path} }
	entry := func(path string) pathguard.Input { return pathguard.Input{Path: path, Entry: true} }
	whole := func(path string) pathguard.Output { return pathguard.Output{Path: path} }
	files := func(path string) pathguard.Output { return pathguard.Output{Path: path, Files: true} }
	for _, c := range []struct {
		in   pathguard.Input
		out  pathguard.Output
		want bool
	}{
		{tree("orig"), whole("orig"), true},
		{tree("orig"), whole("orig/new/deep"), true},
		{tree("orig"), files("orig/new"), true},
		{tree("orig/data"), whole("orig"), true},
		{tree("orig/data"), files("orig"), false},
		{tree("orig/data"), files("orig/data/0"), true},
		{tree("orig"), whole("original"), false},
		{tree("orig"), whole("directory"), true},
		{tree("directory"), whole("orig/x"), true},
		{tree("file"), whole("orig"), true},
		{tree("file"), files("orig/data/0"), true},
		{tree("file"), files("orig/data/1"), false},
		{tree("file"), files("file"), true},
		{tree("links"), whole("orig"), true},
		{tree("links"), whole("orig/data"), true},
		{tree("links"), files("orig"), false},
		{tree("links"), files("orig/data/0"), true},
		{tree("links"), files("orig/data/1"), false},
		{tree("links"), whole("orig/new"), false},
		{tree("links"), whole("out"), true}, // a dangling link
		{tree("links"), whole("elsewhere"), false},
		{tree("hops"), whole("out"), true}, // a link on the path
		{tree("hops"), whole("orig"), true},
		{tree("hops"), files("out/hop"), true}, // leads to the file
		{tree("through"), whole("out"), true},  // a link to a directory on the path
		{tree("chain"), whole("out"), true},
		{tree("chain"), whole("elsewhere"), true},
		{tree("folders"), whole("elsewhere"), false}, // links to directories are not read
		{entry("orig"), whole("orig"), true},
		{entry("orig"), whole("."), true},
		{entry("orig"), whole("orig/x"), false},
		{tree("missing"), whole("missing"), true},
		{tree("missing/inside"), whole("missing"), true}, // it may come to exist
		{tree("."), whole("new"), true},
	} {
		if got := refused(t, dir, c.in, c.out); got != c.want {
			t.Errorf("read %s (entry %v), write %s (files %v): refused is %v", c.in.Path, c.in.Entry, c.out.Path, c.out.Files, got)
		}
	}
}

// TestCheckNamedFiles checks that files that are named in an input count as read.
func TestCheckNamedFiles(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"table": "", "out/data/0": "", "links/0@": "../out/data/0"})
	for _, name := range []string{"out/data/0", "links/0"} {
		in := pathguard.Input{Path: "table", Files: func(_ context.Context, yield func(string) error) error { return yield(filepath.Join(dir, name)) }}
		if !refused(t, dir, in, pathguard.Output{Path: "out"}) {
			t.Errorf("%s is named, and out may be replaced", name)
		}
	}
}

// TestCheckLooksAgain checks links that have changed their target.
func TestCheckLooksAgain(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"orig/0": "", "other/0": "", "out@": "other"})
	var reads pathguard.Inputs
	reads.Add(pathguard.Input{Owner: "node in", Path: filepath.Join(dir, "orig")})
	out := pathguard.Output{Owner: "node out", Path: filepath.Join(dir, "out")}
	if err := reads.Check(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(out.Path), os.Symlink("orig", out.Path)); err != nil {
		t.Fatal(err)
	}
	if err := reads.Check(t.Context(), out); !errors.Is(err, pathguard.ErrConflict) {
		t.Errorf("the error is %v", err)
	}
}

// bind shows a directory at another path as well.
func bind(t *testing.T, from, at string) {
	t.Helper()
	if err := os.MkdirAll(at, 0o777); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "mount", "--bind", from, at).CombinedOutput(); err != nil {
		t.Skipf("this test needs the right to mount (run it as root): %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.CommandContext(context.WithoutCancel(t.Context()), "umount", at).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
}

func TestCheckMounts(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"orig/data/0": "", "holds/mounted/x": "", "around/inner/x": "", "far": ""})
	for from, at := range map[string]string{"orig": "mnt ä", "orig/data": "deep/data", "around": "holds/mounted"} {
		bind(t, filepath.Join(dir, from), filepath.Join(dir, at))
	}
	for _, c := range []struct {
		in, out string
		want    bool
	}{
		{"orig", "mnt ä", true}, {"orig", "mnt ä/new", true}, {"orig/data", "mnt ä", true},
		{"mnt ä", "orig", true}, {"mnt ä/data", "orig/data/new", true},
		{"orig", "deep/data", true}, {"orig", "deep/data/new", true}, // of a directory in it
		{"deep/data", "orig", true},
		{"holds", "around", true}, {"holds", "around/inner/new", true}, // mounted in it
		{"orig", "deep/new", false}, {"around/inner", "far", false},
	} {
		if got := refused(t, dir, pathguard.Input{Path: c.in}, pathguard.Output{Path: c.out}); got != c.want {
			t.Errorf("read %s, write %s: refused is %v", c.in, c.out, got)
		}
	}
	var reads pathguard.Inputs
	if err := reads.Check(t.Context(), pathguard.Output{Path: filepath.Join(dir, "holds")}); err == nil || !strings.Contains(err.Error(), "mounted") {
		t.Errorf("a directory that holds a mount point may be replaced: %v", err)
	}
}

// TestCheckOverlays checks that the files of an overlay are those of its layers, and that
// writes go to the upper one.
func TestCheckOverlays(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"low/a/0": "", "low, too: x/c/0": "", "up/b/0": "", "work": "", "merged/x": "", "links/0@": "../merged/b/0", "far/x": ""})
	at := func(name string) string { return filepath.Join(dir, name) }
	escaped := strings.NewReplacer(":", `\:`, ",", `\,`)
	if err := errors.Join(os.Remove(at("work")), os.Mkdir(at("work"), 0o777)); err != nil {
		t.Fatal(err)
	}
	options := "lowerdir=" + escaped.Replace(at("low, too: x")) + ":" + at("low") + ",upperdir=" + at("up") + ",workdir=" + at("work")
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "overlay", "-o", options, "overlay", at("merged")).CombinedOutput(); err != nil {
		t.Skipf("this test needs the right to mount an overlay (run it as root): %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.CommandContext(context.WithoutCancel(t.Context()), "umount", at("merged")).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	for _, c := range []struct {
		in, out string
		want    bool
	}{
		{"merged", "up", true}, {"merged", "up/b", true}, {"merged", "up/new", true}, {"merged", "low/a", true}, {"merged", "low, too: x/c/new", true},
		{"merged/b", "up/b/0", true}, {"merged/b", "up", true}, {"merged/b", "up/new", false}, {"merged/a", "low", true},
		{"up", "merged", true}, {"up", "merged/new", true}, {"up/b", "merged/b/new", true}, {"up/b", "merged/new", false},
		{"low", "merged/new", false}, {"low/a", "merged/b", false}, {"far", "merged", false}, {"merged", "far", false},
		{"links", "up/b", true}, {"links", "up/b/0", true}, {"links", "up/new", false},
	} {
		if got := refused(t, dir, pathguard.Input{Path: c.in}, pathguard.Output{Path: c.out}); got != c.want {
			t.Errorf("read %s, write %s: refused is %v", c.in, c.out, got)
		}
	}
}

// BenchmarkCheck scans a directory of many files, or of as many links.
func BenchmarkCheck(b *testing.B) {
	for name, link := range map[string]bool{"files": false, "links": true} {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			for _, sub := range []string{"orig", "in", "out"} {
				if err := os.Mkdir(filepath.Join(dir, sub), 0o777); err != nil {
					b.Fatal(err)
				}
			}
			const files = 20_000
			for i := range files {
				at := "in"
				if link {
					at = "orig"
				}
				name := strconv.Itoa(i)
				if err := os.WriteFile(filepath.Join(dir, at, name), nil, 0o666); err != nil {
					b.Fatal(err)
				}
				if link {
					if err := os.Symlink("../orig/"+name, filepath.Join(dir, "in", name)); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ResetTimer()
			for b.Loop() {
				var reads pathguard.Inputs
				reads.Add(pathguard.Input{Path: filepath.Join(dir, "in")})
				if err := reads.Check(b.Context(), pathguard.Output{Path: filepath.Join(dir, "out")}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/files, "ns/file")
		})
	}
}
