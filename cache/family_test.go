package cache

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// drawn is a trace of a generated family, and the size of a cache for it.
type drawn struct {
	family string
	items  int
	size   int
	keys   []int
}

func (d drawn) String() string {
	return fmt.Sprintf("%s: %d items, size %d, %d accesses", d.family, d.items, d.size, len(d.keys))
}

// reader returns one key after the other.
type reader func() int

// A family makes readers of the items 0 to n-1.
type family struct {
	name string
	make func(rng *rand.Rand, n int) reader
}

// simple are the families that others combine.
var simple = []family{
	{"sequential", func(_ *rand.Rand, n int) reader { return loop(0, n) }},
	{"shuffled", shuffled},
	{"drawn", func(rng *rand.Rand, n int) reader { return func() int { return rng.IntN(n) } }},
	{"zipf", func(rng *rand.Rand, n int) reader { return zipf(rng, n, 0.5+1.5*rng.Float64()) }},
	{"window", window},
	{"blocks", func(rng *rand.Rand, n int) reader { return blocks(n, 2+rng.IntN(6)) }},
	{"back and forth", func(_ *rand.Rand, n int) reader { return backAndForth(n) }},
	{"walk", walk},
	{"loops", loops},
	{"scan and hot set", scanAndHot},
}

// families are all families that traces are drawn from.
var families = append(slices.Clone(simple),
	family{"mixture", mixed},
	family{"apart", apart},
	family{"phases", phases},
)

func loop(first, n int) reader {
	i := -1
	return func() int {
		i = (i + 1) % n
		return first + i
	}
}

func shuffled(rng *rand.Rand, n int) reader {
	var rest []int
	return func() int {
		if len(rest) == 0 {
			rest = rng.Perm(n)
		}
		k := rest[0]
		rest = rest[1:]
		return k
	}
}

// zipf reads the item of rank r with a probability proportional to r to the power of -s. Ranks are independent of item
// numbers.
func zipf(rng *rand.Rand, n int, s float64) reader {
	sums, sum := make([]float64, n), 0.0
	for i := range sums {
		sum += math.Pow(float64(i+1), -s)
		sums[i] = sum
	}
	items := rng.Perm(n)
	return func() int {
		i, _ := slices.BinarySearch(sums, rng.Float64()*sum)
		return items[min(i, n-1)]
	}
}

func window(rng *rand.Rand, n int) reader {
	width := 2 + rng.IntN(max(1, min(n, 64)-1))
	step := 1 + rng.IntN(width)
	i := -1
	return func() int {
		i++
		return (i%width + i/width*step) % n
	}
}

func blocks(n, times int) reader {
	i := -1
	return func() int {
		i++
		return i / times % n
	}
}

func backAndForth(n int) reader {
	i := -1
	return func() int {
		i++
		at := i % max(1, 2*n-2)
		return min(at, 2*n-2-at)
	}
}

func walk(rng *rand.Rand, n int) reader {
	at, drift, far := 0.0, rng.Float64(), 1+rng.Float64()*float64(n)/20
	return func() int {
		at += drift + far*rng.NormFloat64()
		return (int(at)%n + n) % n
	}
}

// loops repeats parts of several lengths a few times each.
func loops(rng *rand.Rand, n int) reader {
	var parts [][2]int
	for range 2 + rng.IntN(3) {
		length := 1 + int(float64(n)*math.Pow(rng.Float64(), 2))
		parts = append(parts, [2]int{rng.IntN(max(1, n-length+1)), min(n, length)})
	}
	rounds := 1 + rng.IntN(6)
	next, part, left := reader(nil), -1, 0
	return func() int {
		if left == 0 {
			part = (part + 1) % len(parts)
			next, left = loop(parts[part][0], parts[part][1]), rounds*parts[part][1]
		}
		left--
		return next()
	}
}

// scanAndHot reads a small set often, and the rest in order.
func scanAndHot(rng *rand.Rand, n int) reader {
	hot := max(1, int(float64(n)*0.5*math.Pow(rng.Float64(), 2)))
	often := 0.1 + 0.85*rng.Float64()
	first := 0
	if rng.IntN(2) == 0 {
		first = n - hot
	}
	inner := []func() int{loop(0, hot), shuffled(rng, hot), func() int { return rng.IntN(hot) }, zipf(rng, hot, 1)}[rng.IntN(4)]
	scan := loop(0, max(1, n-hot))
	return func() int {
		if rng.Float64() < often {
			return first + inner()
		}
		k := scan()
		if first == 0 {
			k = min(n-1, k+hot)
		}
		return k
	}
}

func pick(rng *rand.Rand, n int) reader { return simple[rng.IntN(len(simple))].make(rng, n) }

// mixed draws from several readers by weight, all over the same items.
func mixed(rng *rand.Rand, n int) reader {
	a, b, often := pick(rng, n), pick(rng, n), 0.1+0.8*rng.Float64()
	return func() int {
		if rng.Float64() < often {
			return a()
		}
		return b()
	}
}

// apart is like mixed, but each reader has its own items.
func apart(rng *rand.Rand, n int) reader {
	cut := 1 + rng.IntN(max(1, n-2))
	a, b, often := pick(rng, cut), pick(rng, n-cut), 0.1+0.8*rng.Float64()
	return func() int {
		if rng.Float64() < often {
			return a()
		}
		return cut + b()
	}
}

// phases alternates between readers.
func phases(rng *rand.Rand, n int) reader {
	readers := make([]reader, 2+rng.IntN(2))
	for i := range readers {
		readers[i] = pick(rng, n)
	}
	length := 50 + int(10*float64(n)*rng.Float64())
	i := -1
	return func() int {
		i++
		return readers[i/length%len(readers)]()
	}
}

// draw returns the trace of a seed, with at most n accesses.
func draw(seed uint64, longest int) drawn {
	rng := rand.New(rand.NewPCG(seed, 0x74726163))
	f := families[rng.IntN(len(families))]
	n := int(math.Round(3 * math.Pow(1e5/3, math.Pow(rng.Float64(), 1.5))))
	size := max(1, int(float64(n)*math.Pow(0.01, rng.Float64())*0.9))
	length := min(longest, int(1000*math.Pow(float64(longest)/1000, rng.Float64())))
	if rng.IntN(3) > 0 {
		length = min(longest, max(length, n*(3+rng.IntN(20))))
	}
	next := f.make(rng, n)
	keys := make([]int, length)
	for i := range keys {
		keys[i] = next()
	}
	return drawn{f.name, n, size, keys}
}
