package docs_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

var (
	measured  = regexp.MustCompile(`(?:^|[^\w.,/-])(\d+(?:\.\d+)?|\d{1,3}(?: \d{3})+) ?(ns|us|µs|ms|s|MB|GB)\b`)
	duration  = regexp.MustCompile(`\b(\d+|two|three|four|five|ten|twelve|twenty) (seconds|minutes|hours)\b`)
	generated = regexp.MustCompile(`(?s)<!-- begin .*?<!-- end `)
	row       = regexp.MustCompile(`^\| ([^|]*[a-z][^|]*) \| ([\d.,]+[^|]*) \| `)
)

// TestFiguresAreSaidOnce checks that measurements are on one page, to which others link, so
// that none is outdated elsewhere. Two pages repeat each other if they share a figure of
// three digits, two figures of two, or a row of a table. The README has only the figures
// generated from the benchmarks, and the page for contributors has none.
func TestFiguresAreSaidOnce(t *testing.T) {
	type pair struct{ page, before string }
	on, shared := map[string]string{}, map[pair][]string{}
	weight := map[pair]int{}
	for _, p := range everyPage(t) {
		text := p.prose()
		if p.name == "README.md" {
			text = generated.ReplaceAllStringFunc(text, blank)
		}
		for i, line := range strings.Split(text, "\n") {
			for figure, digits := range figures(line) {
				where := fmt.Sprintf("%s:%d: %s", p.name, i+1, figure)
				if p.name == "README.md" {
					t.Errorf("%s: the README has no figures but those of make bench; link to the page that has it", where)
				}
				if before, ok := on[figure]; !ok {
					on[figure] = p.name
				} else if of := (pair{p.name, before}); before != p.name {
					shared[of], weight[of] = append(shared[of], where), weight[of]+digits-1
				}
			}
			if m := duration.FindString(line); m != "" && p.name == "CONTRIBUTING.md" {
				t.Errorf("%s:%d: %q: it depends on the machine and the commit", p.name, i+1, m)
			}
		}
	}
	for of, figures := range shared {
		if weight[of] > 1 {
			t.Errorf("%s has figures of %s; link to it: %q", of.page, of.before, figures)
		}
	}
}

// figures returns the measurements of a line, each with its number of significant digits.
func figures(line string) map[string]int {
	all := map[string]int{}
	for _, m := range measured.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, ""), -1) {
		digits := len(strings.Trim(strings.NewReplacer(".", "", " ", "").Replace(m[1]), "0"))
		all[m[1]+" "+m[2]] = max(digits, 1)
	}
	if m := row.FindStringSubmatch(line); m != nil && m[2] != "0" {
		all[m[1]+": "+m[2]] = 3
	}
	return all
}

func blank(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) }
