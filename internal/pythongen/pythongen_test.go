package pythongen_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/larder-data/larder/internal/pythongen"

	// The components that come with Larder.
	_ "github.com/larder-data/larder/cli"
)

var update = flag.Bool("update", false, "write the file anew")

// TestFileIsOfTheRegistry: what Python knows of the components is what they are.
func TestFileIsOfTheRegistry(t *testing.T) {
	path := filepath.Join("../..", pythongen.File)
	if *update {
		if err := os.WriteFile(path, []byte(pythongen.Source()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(have), pythongen.Source()); d != "" {
		t.Errorf("%s is not of the components that there are; run go test ./internal/pythongen -update\n%s", pythongen.File, d)
	}
}
