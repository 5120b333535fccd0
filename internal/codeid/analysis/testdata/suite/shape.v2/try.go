package shape

import "suite/bench"

// Try evaluates the functions of this package.
func Try(b *bench.Bench) {
	bench.Try(b, "areas", LazyAreas, Areas, 3)
	bench.Try(b, "describe", LazyDescribe, Describe, "box")
	bench.Try(b, "measure", LazyMeasure, Measure, 3)
	bench.Try(b, "ordered", LazyOrdered, Ordered, "ccc a bb")
	bench.Try(b, "apply", LazyApply, Apply, 2)
	bench.Try(b, "distance", LazyDistance, Distance, 3)
	bench.Try(b, "feet", LazyFeet, nil, 100)
	bench.Try(b, "walk", LazyWalk, Walk, 2)
}
