package gen_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-data/larder/internal/app/python/gen"

	// The components of Larder.
	_ "github.com/larder-data/larder/internal/app/cli"
)

var update = flag.Bool("update", false, "write the files again")

// TestFilesAreOfTheRegistry checks that the Python files match the registered components.
func TestFilesAreOfTheRegistry(t *testing.T) {
	for name, want := range gen.Files() {
		path := filepath.Join("../../../..", gen.Dir, name)
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		have, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(have), want); d != "" {
			t.Errorf("%s/%s is not of the components that there are; run go test ./internal/app/python/gen -update\n%s", gen.Dir, name, d)
		}
	}
}
