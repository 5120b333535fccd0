package partial

import "suite/bench"

// Try evaluates the functions of this package.
func Try(b *bench.Bench) {
	bench.Try(b, "part", LazyPart, Part, 1)
}
