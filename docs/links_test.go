package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notSlug = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestLinksLeadSomewhere follows links between files, and to headings.
func TestLinksLeadSomewhere(t *testing.T) {
	for _, p := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(p.prose(), -1) {
			path, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(path, "://") {
				continue
			}
			file := filepath.Join("..", filepath.Dir(p.name), path)
			if path == "" {
				file = filepath.Join("..", p.name)
			}
			b, err := os.ReadFile(file)
			if info, serr := os.Stat(file); serr != nil || !info.IsDir() && err != nil {
				t.Errorf("%s: %s leads nowhere", p.name, m[1])
			} else if anchor != "" && !anchors(string(b))[anchor] {
				t.Errorf("%s: %s: there is no such heading", p.name, m[1])
			}
		}
	}
}

// anchors returns the names by which links reach headings.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		slug := notSlug.ReplaceAllString(strings.ToLower(m[1]), "")
		all[strings.ReplaceAll(slug, " ", "-")] = true
	}
	return all
}

// TestEveryPageIsInTheIndex checks that the index lists all pages.
func TestEveryPageIsInTheIndex(t *testing.T) {
	all := pages(t)
	var index string
	for _, p := range all {
		if p.name == filepath.Join("docs", "README.md") {
			index = p.text
		}
	}
	for _, p := range all {
		name, inside := strings.CutPrefix(filepath.ToSlash(p.name), "docs/")
		if inside && name != "README.md" && !strings.Contains(index, "]("+name+")") {
			t.Errorf("docs/README.md does not have %s", name)
		}
	}
}
