package docs_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	variable = regexp.MustCompile(`\bLARDER_[A-Z_]*[A-Z]\b`)
	readForm = regexp.MustCompile(`["'](LARDER_[A-Z_]+)["']|\$\{?(LARDER_[A-Z_]+)|^(LARDER_[A-Z_]+)=?$`)
	setTo    = regexp.MustCompile(`\b(LARDER_[A-Z_]+)=([0-9a-z]+)\b`)
)

// TestNamedVariablesAreRead checks that code reads or sets the environment variables named
// on pages, and that a page has those of the program and the package. Names for tests begin
// with LARDER_TEST_.
func TestNamedVariablesAreRead(t *testing.T) {
	reads := map[string]bool{} // true for code outside of tests
	for s, product := range indexGo(t).literals {
		if m := readForm.FindStringSubmatch(s); m != nil {
			name := m[1] + m[2] + m[3]
			reads[name] = reads[name] || product && m[3] != ""
		}
	}
	walk(t, "", func(path, text string) {
		if strings.HasSuffix(path, ".go") {
			return
		}
		for _, m := range readForm.FindAllStringSubmatch(text, -1) {
			name := m[1] + m[2] + m[3]
			reads[name] = reads[name] || strings.HasPrefix(path, "../python/src/")
		}
	})
	named := map[string]bool{}
	for _, p := range everyPage(t) {
		for _, name := range variable.FindAllString(p.text, -1) {
			if _, ok := reads[name]; !ok {
				t.Errorf("%s: nothing reads %s", p.name, name)
			}
			named[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(reads)) {
		if reads[name] && !named[name] && !strings.HasPrefix(name, "LARDER_TEST_") {
			t.Errorf("%s is read, and no page names it", name)
		}
	}
	if len(named) < 10 {
		t.Errorf("%d variables were found", len(named))
	}
}

// TestSettingsAreThoseOfCI checks that CI sets variables to the values on the page for
// contributors.
func TestSettingsAreThoseOfCI(t *testing.T) {
	page := map[string][]string{}
	for _, m := range setTo.FindAllStringSubmatch(read(t, "../CONTRIBUTING.md"), -1) {
		page[m[1]] = append(page[m[1]], m[2])
	}
	checked := 0
	for _, m := range setTo.FindAllStringSubmatch(read(t, "../.ci/steps"), -1) {
		if values := page[m[1]]; values != nil {
			checked++
			if !slices.Contains(values, m[2]) {
				t.Errorf("CONTRIBUTING.md has %s=%s, and .ci/steps %s", m[1], values, m[2])
			}
		}
	}
	if checked == 0 {
		t.Error("CONTRIBUTING.md has no setting of .ci/steps")
	}
}
