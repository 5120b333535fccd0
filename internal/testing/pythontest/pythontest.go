// Package pythontest provides a Python for tests: an interpreter of the machine, with
// the package of this repository.
package pythontest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Need lets functions run in a Python of this machine until a test is over. It skips the
// test if there is none.
func Need(tb testing.TB) {
	tb.Helper()
	if !Have(tb) {
		tb.Skip("there is no Python 3.11 or newer on this machine")
	}
}

// Have does the same if there is one, and reports whether there is.
func Have(tb testing.TB) bool {
	tb.Helper()
	for _, name := range []string{"python3", "python3.14", "python3.13", "python3.12", "python3.11"} {
		path, err := exec.LookPath(name)
		if err == nil && exec.CommandContext(tb.Context(), path, "-c", "import sys; sys.exit(sys.version_info < (3, 11))").Run() == nil {
			tb.Setenv("LARDER_PYTHON", path)
			tb.Setenv("PYTHONPATH", source(tb))
			return true
		}
	}
	return false
}

// source returns the directory of the package, in a parent directory of a test.
func source(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		src := filepath.Join(dir, "python", "src")
		if _, err := os.Stat(src); err == nil {
			return src
		}
		if dir == filepath.Dir(dir) {
			tb.Fatal("no parent of this test's directory has python/src")
		}
		dir = filepath.Dir(dir)
	}
}
