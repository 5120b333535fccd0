package units

import "strconv"

// perMile is how many kilometres a mile has.
const perMile = 1.609344

// Kilometres converts miles.
func Kilometres(miles float64) string {
	return strconv.FormatFloat(miles*perMile, 'f', 2, 64) + unit()
}

func unit() string { return " km" }

// Each calls functions that were made in a loop.
func Each(n int) int {
	var made []func() int
	for i := 0; i < n; i++ {
		made = append(made, func() int { return i })
	}
	total := 0
	for _, f := range made {
		total += f()
	}
	return total
}
