//go:build unix

package rows_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/larder-data/larder/format/internal/rows"
)

// TestLinksLeadNowhereElse checks that a file that a row names is in the directory of the
// rows, also behind links, unless others are allowed.
func TestLinksLeadNowhereElse(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	err := errors.Join(
		os.Mkdir(in("sub"), 0o700), os.WriteFile(in("sub/own.txt"), nil, 0o600), os.WriteFile(filepath.Join(elsewhere, "secret.txt"), nil, 0o600),
		os.Symlink("sub/own.txt", in("own")), os.Symlink(filepath.Join(elsewhere, "secret.txt"), in("out.txt")), os.Symlink(elsewhere, in("away")), os.Symlink("out.txt", in("twice.txt")),
		os.Symlink(dir, filepath.Join(elsewhere, "rows")))
	if err != nil {
		t.Fatal(err)
	}
	for name, ok := range map[string]bool{"sub/own.txt": true, "own": true, "gone.txt": true, "out.txt": false, "twice.txt": false, "away/secret.txt": false, "sub/../out.txt": false} {
		for _, from := range []string{dir, filepath.Join(elsewhere, "rows")} {
			for _, outside := range []bool{false, true} {
				f := rows.Files{Items: map[string]string{"x": "file"}, Outside: outside}
				_, err := f.Fields(filepath.Join(from, "in.jsonl"), func(string) (string, bool, error) { return name, true, nil })
				if (err == nil) != (ok || outside) || err != nil && !strings.Contains(err.Error(), "through a link; set outside: true") {
					t.Errorf("%s from %s, outside %v: %v", name, from, outside, err)
				}
			}
		}
	}
}
