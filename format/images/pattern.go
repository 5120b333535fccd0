package images

import (
	"fmt"
	"path"
	"strings"
)

// checkPattern refuses an invalid pattern.
func checkPattern(pattern string) error {
	for part := range strings.SplitSeq(pattern, "/") {
		if part == "" || part == "." || part == ".." {
			return fmt.Errorf("pattern %q is not relative; write a path in the directory, such as train/*.jpg", pattern)
		}
		if _, err := path.Match(part, ""); err != nil {
			return fmt.Errorf("pattern %q: [ without ] in %q; close it", pattern, part)
		}
	}
	return nil
}

// fits returns a predicate that reports whether one of the patterns matches a path with
// slashes. A pattern without a slash is compared with the last name.
func fits(patterns []string) func(of string) bool {
	parts := make([][]string, len(patterns))
	for i, p := range patterns {
		parts[i] = strings.Split(p, "/")
		if len(parts[i]) == 1 {
			parts[i] = []string{"**", p}
		}
	}
	return func(of string) bool {
		if len(parts) == 0 {
			return false
		}
		names := strings.Split(of, "/")
		for _, p := range parts {
			if fit(p, names) {
				return true
			}
		}
		return false
	}
}

// fit reports whether a pattern matches names, element by element; ** matches any number
// of them. It backtracks only to the last **, so its cost is at most the product of both
// lengths.
func fit(pattern, names []string) bool {
	p, n, star, from := 0, 0, -1, 0
	for n < len(names) {
		switch {
		case p < len(pattern) && pattern[p] == "**":
			star, from = p, n
			p++
		case p < len(pattern) && fitsName(pattern[p], names[n]):
			p++
			n++
		case star >= 0:
			from++
			p, n = star+1, from
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == "**" {
		p++
	}
	return p == len(pattern)
}

// fitsName reports whether one element of a valid pattern matches a name.
func fitsName(pattern, name string) bool {
	ok, _ := path.Match(pattern, name)
	return ok
}
