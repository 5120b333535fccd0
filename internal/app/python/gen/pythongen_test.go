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

var update = flag.Bool("update", false, "write the file anew")

// TestFileIsOfTheRegistry checks that the Python file matches the registered components.
func TestFileIsOfTheRegistry(t *testing.T) {
	path := filepath.Join("../../../..", gen.File)
	if *update {
		if err := os.WriteFile(path, []byte(gen.Source()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(have), gen.Source()); d != "" {
		t.Errorf("%s is not of the components that there are; run go test ./internal/app/python/gen -update\n%s", gen.File, d)
	}
}
