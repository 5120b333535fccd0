package pathguard_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/larder-data/larder/internal/fs/pathguard"
)

// TestApart checks that two outputs are refused if one is, or contains, the other under any
// name. The error has both names.
func TestApart(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"there/x/0": "", "link@": "there", "far@": "missing/deep", "file": ""})
	whole := func(path string) pathguard.Output { return pathguard.Output{Path: path} }
	files := func(path string) pathguard.Output { return pathguard.Output{Path: path, Files: true, Shared: true} }
	one := func(path string) pathguard.Output {
		return pathguard.Output{Path: path, Files: true, Shared: true, Single: true}
	}
	adds := func(path string) pathguard.Output { return pathguard.Output{Path: path, Shared: true} }
	for _, c := range []struct {
		a, b pathguard.Output
		want string // "" if they are allowed
	}{
		{whole("np"), whole("np"), "would both write"},
		{whole("np"), whole("./x/../np"), "would both write"},
		{whole("np"), whole("np/inside"), "would write"},
		{whole("np"), whole("np/inside/deep"), "would write"},
		{whole("np"), whole("npx"), ""},
		{whole("np"), whole("NP"), ""},
		{whole("np"), whole("NP/inside"), ""},
		{whole("there"), whole("link/new"), "would write"},
		{whole("there"), whole("link"), "would both write"},
		{whole("missing"), whole("far/new"), "would write"},
		{whole("far"), whole("missing"), "would write"},
		{whole("there/x"), whole("there/y"), ""},
		{whole("file"), whole("file"), "would both write"},
		{files("np"), whole("np/inside"), ""},
		{files("np"), one("np/file"), ""},
		{files("np"), files("np"), ""},
		{one("np"), one("np"), "would both write"},
		{one("np"), files("np/file"), "would write"},
		{whole("np"), one("np/file"), "would write"},
		{adds("np"), adds("np"), ""},
		{adds("np"), whole("np"), "would both write"},
		{adds("np"), adds("np/inside"), "would write"},
	} {
		for _, pair := range [][2]pathguard.Output{{c.a, c.b}, {c.b, c.a}} {
			a, b := pair[0], pair[1]
			a.Owner, b.Owner = "node a", "node b"
			a.Path, b.Path = dir+"/"+a.Path, dir+"/"+b.Path
			err := pathguard.CheckDisjoint(whole(dir+"/other"), a, b)
			if (err != nil) != (c.want != "") {
				t.Errorf("%s and %s: %v, want %q", a.Path, b.Path, err, c.want)
			}
			if err == nil {
				continue
			}
			for _, part := range []string{c.want, "node a", "node b"} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%s and %s: %v does not say %q", a.Path, b.Path, err, part)
				}
			}
		}
	}
}

// TestApartFolded checks that the file system decides whether two names are one, also for
// names that do not exist yet.
func TestApartFolded(t *testing.T) {
	pathguard.SetFolds(t)
	dir := t.TempDir()
	for other, want := range map[string]bool{"NP": true, "NP/inside": true, "Np/a/b": true, "NPx": false, "x": false} {
		a, b := pathguard.Output{Path: filepath.Join(dir, "np")}, pathguard.Output{Path: filepath.Join(dir, other)}
		if err := pathguard.CheckDisjoint(a, b); (err != nil) != want {
			t.Errorf("np and %s: %v, want an error: %v", other, err, want)
		}
		if err := pathguard.CheckDisjoint(b, a); (err != nil) != want {
			t.Errorf("%s and np: %v, want an error: %v", other, err, want)
		}
	}
}

// TestFolds checks that the entries of a directory show whether it folds case, or its
// parents if it is empty.
func TestFolds(t *testing.T) {
	dir := t.TempDir()
	want := false
	if err := os.WriteFile(filepath.Join(dir, "probe"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "PROBE")); err == nil {
		want = true
	}
	for _, name := range []string{".", "none/yet", "123"} {
		if got := pathguard.Folds(filepath.Join(dir, name)); got != want {
			t.Errorf("%s takes names for one that differ in case: %v, want %v", name, got, want)
		}
	}
}
