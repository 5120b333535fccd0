// Package legacy does not register its sources.
package legacy

// Score is the square.
func Score(n int) int { return n*n + offset() }

func offset() int { return 1 }
