package calc

import "math"

func accumulate(xs []float64) float64 {
	total := origin
	for _, x := range xs {
		total = add(total, x)
	}
	return cents(total)
}

// add weighs b.
func add(a, b float64) float64 { return a + b*gain }

func cents(x float64) float64 { return math.Round(x*100) / 100 }

func level(points int) Level { return Level(points - bonus) }

func adder(by int) func(int) int {
	return func(n int) int { return n + by }
}

func times(by int) func(int) int {
	return func(n int) int { return n * by }
}

func unused() string { return "nobody calls this" }
