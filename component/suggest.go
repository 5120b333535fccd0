package component

import (
	"fmt"
	"slices"
	"strings"
)

// Suggest returns "; did you mean X?" with the nearest of the valid names, or
// a list of them if none is near, or "" if there are none.
func Suggest(name string, valid []string) string {
	if len(valid) == 0 {
		return ""
	}
	best, distance := "", min(max(3, len(name)/3), len(name))
	for _, v := range valid {
		if d := editDistance(name, v); d < distance {
			best, distance = v, d
		}
	}
	if best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	sorted := slices.Sorted(slices.Values(valid))
	return "; valid: " + strings.Join(sorted, ", ")
}

// editDistance is Levenshtein's distance between a and b, in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next := min(row[j+1]+1, row[j]+1, diagonal+cost)
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
