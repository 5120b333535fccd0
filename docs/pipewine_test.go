package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNamedTestsExist: whoever reads that a test shows something can run it.
func TestNamedTestsExist(t *testing.T) {
	have := tests(t)
	page, err := os.ReadFile("pipewine.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(page)) {
		pkg := ""
		for _, m := range regexp.MustCompile(`(?:\b([a-z0-9]+)\.)?\b((?:Test|Fuzz|Benchmark|Example)[A-Z]\w*)`).FindAllStringSubmatch(line, -1) {
			if m[1] != "" {
				pkg = m[1]
			}
			if !have[pkg+"."+m[2]] {
				t.Errorf("there is no test %s.%s, which is named in: %.100s", pkg, m[2], line)
			}
		}
	}
}

// tests returns the tests of all packages, by the name of the folder and the
// function.
func tests(t *testing.T) map[string]bool {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark|Example)\w*)\(`)
	have := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(content), -1) {
			have[filepath.Base(filepath.Dir(path))+"."+m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return have
}
