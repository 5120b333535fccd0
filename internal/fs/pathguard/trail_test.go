package pathguard_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/larder-data/larder/internal/fs/pathguard"
)

func TestInside(t *testing.T) {
	for _, c := range []struct {
		dir, path string
		want      bool
	}{
		{"/a/b", "/a/b", true}, {"/a/b", "/a/b/c", true}, {"/a/b", "/a", false}, {"/a/b", "/a/bc", false}, {"/", "/a", true}, {"/a/b", "/a/..b", false},
	} {
		if got := pathguard.Inside(c.dir, c.path); got != c.want {
			t.Errorf("%s in %s: %v", c.path, c.dir, got)
		}
	}
}

// TestTrail checks that links are followed one by one, as the system does, and that each is
// named.
func TestTrail(t *testing.T) {
	dir := pathguard.Resolve(t.TempDir())
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.MkdirAll(at("real/deep"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{
		"a": "b", "b": at("real"), "real/deep/up": "../../a/deep/..", "loop": "loop", "gone": "not/there",
	} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		path, end string
		links     []string
	}{
		{"real", "real", nil},
		{"a/x/y", "real/x/y", []string{"a", "b"}},
		{"a/deep/up", "real", []string{"a", "b", "real/deep/up", "a", "b"}},
		{"gone/x", "not/there/x", []string{"gone"}},
		{"a/..", "", []string{"a", "b"}},
		{"real/deep/up/../b", "real", []string{"real/deep/up", "a", "b", "b"}},
	} {
		links, end := pathguard.ResolveLinks(dir + "/" + c.path)
		for i := range links {
			links[i], _ = filepath.Rel(dir, links[i])
		}
		if end != at(c.end) || !slices.Equal(links, c.links) {
			t.Errorf("%s leads through %q to %s, want %q, %s", c.path, links, end, c.links, at(c.end))
		}
	}
	if links, _ := pathguard.ResolveLinks(at("loop")); len(links) != 40 {
		t.Errorf("a loop has %d links", len(links))
	}
}
