package tables

import "suite/bench"

// Try evaluates the functions of this package.
func Try(b *bench.Bench) {
	bench.Try(b, "price", LazyPrice, Price, "pear")
	bench.Try(b, "pipeline", LazyPipeline, Pipeline, " ab ")
	bench.Try(b, "banner", LazyBanner, Banner, "larder")
	bench.Try(b, "row", LazyRow, Row, 2)
	bench.Try(b, "steps", LazySteps, Steps, ", ")
	bench.Try(b, "shared", LazyShared, Shared, 5)
	bench.Try(b, "bounds", LazyBounds, Bounds, 1)
}
