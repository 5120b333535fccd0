package indexed_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/larder-data/larder/format/internal/indexed"
	"github.com/larder-data/larder/internal/text/compression"
)

// TestFilesThatAreThereTwice checks that files in a directory that differ only in their
// extensions are an error that names both. A pattern reads them.
func TestFilesThatAreThereTwice(t *testing.T) {
	endings := append(compression.Packed(".jsonl", ".ndjson"), ".tjz")
	for _, c := range []struct {
		names []string
		twice bool
	}{
		{[]string{"a.jsonl", "b.jsonl.gz", "a.txt", "A.jsonl.gz"}, false},
		{[]string{"a.jsonl", "a.jsonl.gz"}, true},
		{[]string{"a.jsonl.zst", "a.jsonl.xz"}, true},
		{[]string{"a.jsonl", "a.JSONL.bz2"}, true},
		{[]string{"a.jsonl", "a.ndjson"}, true},
		{[]string{"a.jsonl.gz", "a.tjz"}, true},
		{[]string{"a.jsonl", "a.jsonl.jsonl"}, false},
	} {
		dir := t.TempDir()
		for _, name := range c.names {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		paths, err := indexed.Files(t.Context(), dir, endings...)
		if !c.twice && err != nil || c.twice && (err == nil || !strings.Contains(err.Error(), c.names[0]) || !strings.Contains(err.Error(), c.names[1])) {
			t.Errorf("%q: %q, %v", c.names, paths, err)
		}
		pattern := filepath.Join(dir, "{"+strings.Join(c.names, ",")+"}")
		if paths, err := indexed.Files(t.Context(), pattern, endings...); err != nil || len(paths) != len(c.names) {
			t.Errorf("%s: %q, %v", pattern, paths, err)
		}
	}
}
