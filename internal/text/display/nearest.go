package display

// Nearest returns the one of the valid names that is nearest to name, or "" if none
// is near: few letters away, and not all of them.
func Nearest(name string, valid []string) string {
	best, distance := "", min(max(3, len(name)/3), len(name))
	for _, v := range valid {
		if d := editDistance(name, v); d < distance {
			best, distance = v, d
		}
	}
	return best
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
