package output_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/larder-data/larder/format/output"
)

// TestNamesOfOutputs checks that names that no file can have, and two names of one file,
// are refused before anything is written.
func TestNamesOfOutputs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"a", "b", "1"}, ""},
		{[]string{"a", ""}, `output ""`},
		{[]string{"a/b"}, `output "a/b"`},
		{[]string{".."}, `output ".."`},
		{[]string{"a", "b", "a"}, `outputs "a" and "a"`},
		{[]string{strings.Repeat("a", 252)}, "257 bytes"},
	} {
		err := output.CheckNames(dir, c.names, ".json")
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%.20q: %v; want %q", c.names, err, c.want)
		}
	}
	// "a" and "A" are one file or two, depending on the file system.
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "a"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := os.Stat(filepath.Join(dir, "A"))
	oneFile := err == nil
	if err := output.CheckNames(dir, []string{"a", "A"}, ""); (err != nil) != oneFile {
		t.Errorf("they are one file: %v, and the error is %v", oneFile, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v are left, %v", left, err)
	}
}
