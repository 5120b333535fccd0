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
	for _, name := range []string{"pipewine.md", "torchdata.md"} {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(page)) {
			named(t, have, line)
		}
	}
}

// named checks the tests that a line names.
func named(t *testing.T, have map[string]bool, line string) {
	t.Helper()
	pkg := ""
	for _, m := range regexp.MustCompile(`(?:\b([a-z0-9]+)\.)?\b((?:Test|Fuzz|Benchmark|Example)[A-Z]\w*)`).FindAllStringSubmatch(line, -1) {
		if m[1] != "" {
			pkg = m[1]
		}
		if !have[pkg+"."+m[2]] {
			t.Errorf("there is no test %s.%s, which is named in: %.100s", pkg, m[2], line)
		}
	}
	for _, m := range regexp.MustCompile(`\b(test_[a-z_]{8,})(\.py)?`).FindAllStringSubmatch(line, -1) {
		if m[2] == "" && !have[m[1]] { // others are files, of another project
			t.Errorf("there is no test %s in Python, which is named in: %.100s", m[1], line)
		}
	}
}

// tests returns the tests of all packages, by the name of the folder and the
// function.
func tests(t *testing.T) map[string]bool {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark|Example)\w*)\(`)
	have := map[string]bool{}
	python(t, have)
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

// python adds the tests of the package for Python, by the name of the function.
func python(t *testing.T, have map[string]bool) {
	t.Helper()
	files, err := filepath.Glob("../python/tests/test_*.py")
	if err != nil || len(files) == 0 {
		t.Fatal("no tests in Python", err)
	}
	for _, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^(?:async )?def (test_\w+)\(`).FindAllStringSubmatch(string(content), -1) {
			have[m[1]] = true
		}
	}
}
