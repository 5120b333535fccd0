package round

import "math"

// Distance is as the crow flies.
func Distance(a, b float64) float64 { return math.Hypot(a, b) }
