package registry

import "suite/bench"

// Try evaluates the functions of this package.
func Try(b *bench.Bench) {
	bench.Try(b, "run", LazyRun, Run, "square")
	bench.Try(b, "names", LazyNames, Names, " ")
	bench.Try(b, "all", LazyAll, All, "x")
}
