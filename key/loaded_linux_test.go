package key

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestBuildOfWhatIsLoaded checks that a program started by the dynamic loader is identified by its own file, not by that
// of the loader.
func TestBuildOfWhatIsLoaded(t *testing.T) {
	loaders, _ := filepath.Glob("/lib*/ld-linux*.so*")
	if _, err := exec.LookPath("go"); err != nil || len(loaders) == 0 {
		t.Skip("needs the go command and the loader of glibc")
	}
	dir, err := os.MkdirTemp(".", "testdata-loaded-") //nolint:usetesting // in this module
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	says := map[string]bool{}
	for _, text := range []string{"one", "two"} {
		code := "package main\n\nimport \"github.com/larder-data/larder/key\"\n\nfunc main() {\n\tc, err := key.Build()\n\tif err != nil {\n\t\tpanic(err)\n\t}\n\tprint(c.ID)\n}\n\nvar _ = \"" + text + "\"\n"
		if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(code), 0o666); err != nil {
			t.Fatal(err)
		}
		binary := filepath.Join(t.TempDir(), text)
		build := exec.CommandContext(t.Context(), "go", "build", "-buildmode=pie", "-o", binary, "./"+dir)
		if out, err := build.CombinedOutput(); err != nil {
			t.Skipf("no program can be made for the loader here: %v\n%s", err, out)
		}
		out, err := exec.CommandContext(t.Context(), loaders[0], binary).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		alone, err := exec.CommandContext(t.Context(), binary).CombinedOutput()
		if err != nil || string(alone) != string(out) {
			t.Errorf("separately it is %s (%v), and when it is loaded %s", alone, err, out)
		}
		says[strings.TrimSpace(string(out))] = true
	}
	if len(says) != 2 {
		t.Errorf("two programs have one build: %v", says)
	}
}
