package calc

// A Level is a step of a scale.
type Level int

const (
	low Level = iota * 25
	fair
	good
	best
)

const (
	base   = 1 << 3
	gain   = base / 4.0
	origin = 0.0
	bonus  = 5
	spare  = 7
)
