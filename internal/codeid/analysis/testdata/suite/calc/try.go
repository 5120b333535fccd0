package calc

import "suite/bench"

// Try evaluates the functions of this package.
func Try(b *bench.Bench) {
	prices := []float64{1.5, 2.25, 3}
	bench.Try(b, "sum", LazySum, Sum, prices)
	bench.Try(b, "grade", LazyGrade, Grade, 60)
	bench.Try(b, "fib", LazyFib, Fib, 12)
	bench.Try(b, "parity", LazyParity, Parity, 6)
	bench.Try(b, "safe", LazySafe, Safe, 4)
	bench.Try(b, "search", LazySearch, Search, 36)
	bench.Try(b, "compose", LazyCompose, Compose, 4)
	bench.Try(b, "narrow", LazyNarrow, Narrow, "n=")
	bench.Try(b, "largest", LazyLargest, Largest[int], []int{3, 9, 4})
	bench.Try(b, "total", LazyTotal, nil, prices)
	bench.Try(b, "loops", LazyLoops, Loops, 4)
}
