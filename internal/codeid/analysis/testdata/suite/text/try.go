package text

import "suite/bench"

// Try evaluates the functions of this package.
func Try(b *bench.Bench) {
	bench.Try(b, "encode", LazyEncode, Encode, "larder")
	bench.Try(b, "words", LazyWords, Words, 1)
	bench.Try(b, "phrases", LazyPhrases, Phrases, ", ")
	bench.Try(b, "system", LazySystem, System, 2)
	bench.Try(b, "lookup", LazyLookup, Lookup, "three")
	bench.Try(b, "binary", LazyBinary, Binary, "\xff\xfe\xfd")
	bench.Try(b, "smooth", LazySmooth, Smooth, "smooth")
	bench.Try(b, "convert", LazyConvert, Convert, 26.2)
	bench.Try(b, "each", LazyEach, Each, 4)
}
