package docs_test

import (
	"regexp"
	"strings"
	"testing"
)

var (
	goTest = regexp.MustCompile(`(?:\b([a-z0-9]+)\.)?\b((?:Test|Fuzz|Benchmark|Example)[A-Z]\w*)`)
	pyTest = regexp.MustCompile(`\b(test_[a-z_]{8,})(\.py)?`)
	pyDef  = regexp.MustCompile(`(?m)^(?:async )?def (test_\w+)\(`)
)

// TestNamedTestsExist checks that tests named on pages exist, so that readers can run them.
func TestNamedTestsExist(t *testing.T) {
	x, python := indexGo(t), map[string]bool{}
	walk(t, ".py", func(_, text string) {
		for _, m := range pyDef.FindAllStringSubmatch(text, -1) {
			python[m[1]] = true
		}
	})
	for _, p := range everyPage(t) {
		for line := range strings.Lines(p.prose()) {
			pkg := ""
			for _, m := range goTest.FindAllStringSubmatch(line, -1) {
				if m[1] != "" {
					pkg = m[1]
				}
				if pkg == "" && !x.somewhere(m[2]) || pkg != "" && !x.packages[pkg][m[2]] {
					t.Errorf("%s: there is no test %s.%s, which is named in: %.100s", p.name, pkg, m[2], line)
				}
			}
			for _, m := range pyTest.FindAllStringSubmatch(line, -1) {
				if m[2] == "" && !python[m[1]] { // others are files of another project
					t.Errorf("%s: there is no test %s in Python, which is named in: %.100s", p.name, m[1], line)
				}
			}
		}
	}
}

// somewhere reports whether any package declares the name.
func (x *goIndex) somewhere(name string) bool {
	for _, names := range x.packages {
		if names[name] {
			return true
		}
	}
	return false
}
