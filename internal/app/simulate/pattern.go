// Package simulate computes hit rates of eviction policies.
//
// A trace is a sequence of accesses to items, which are numbers from 0. A [Pattern]
// generates traces of one kind, such as cyclic or zipfian; [ReadTrace] reads a
// recorded one. [Run] sends a trace through a cache with a policy of package cache,
// or with [Opt], which knows all future accesses. The hit rate is the share of
// accesses that found their item in the cache.
package simulate

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/larder-data/larder/order"
)

// A Pattern generates sequences of accesses.
type Pattern struct {
	Name string
	Doc  string // the order of accesses, in a few words
	// trace returns calls accesses to items 0 to items-1.
	trace func(items, calls int, seed uint64) ([]int, error)
}

// Patterns lists the patterns. The first eight are those of Pipewine's
// benchmark, with its formulas.
func Patterns() []Pattern {
	return []Pattern{
		{"cyclic", "all items in their order, again and again", each(func(i, n int) int { return i % n })},
		{"back-and-forth", "from the last item to the first and back", each(func(i, n int) int { return abs(i%(2*n-1) - (n - 1)) })},
		{"hot-element", "every second access is to one item", each(func(i, n int) int { return (i / 2 % n) * (i % 2) })},
		{"blocks", "each item four times in a row", each(func(i, n int) int { return i / 4 % n })},
		{"sliding-window", "windows of four items, each one further", each(func(i, n int) int { return (i%4 + i/4) % n })},
		{"uniform", "any item but the last", uniform},
		{"zipfian", "few items often, many rarely", zipfian},
		{"random-walk", "steps of a random size, more of them forward", walk},
		{"shuffled-epochs", "all items once an epoch, each epoch in another order", epochs},
		{"with-replacement", "items drawn at random", func(items, calls int, seed uint64) ([]int, error) {
			o, err := order.WithReplacement(items, calls, seed)
			return read(o, calls), err
		}},
		{"mixture", "half of the accesses to a tenth of the items", mixture},
		{"two-jobs", "two shuffled readers in turn, with orders of their own", twoJobs},
		{"shards", "one reader of four, each epoch another quarter", shards},
	}
}

// Named returns the pattern with a name.
func Named(name string) (Pattern, error) {
	all := Patterns()
	i := slices.IndexFunc(all, func(p Pattern) bool { return p.Name == name })
	if i < 0 {
		names := make([]string, len(all))
		for i, p := range all {
			names[i] = p.Name
		}
		return Pattern{}, fmt.Errorf("there is no pattern %q; there are %s", name, strings.Join(names, ", "))
	}
	return all[i], nil
}

// Trace returns calls accesses to items 0 to items-1. It is deterministic for a
// seed.
func (p Pattern) Trace(items, calls int, seed uint64) ([]int, error) {
	if items < 2 || calls < 0 {
		return nil, fmt.Errorf("there is no pattern of %d calls to %d items; give at least two items, and a number of calls that is not negative", calls, items)
	}
	return p.trace(items, calls, seed)
}

// maxTrace bounds a recorded trace, and maxItem the items in it.
const (
	maxTrace = 1 << 28
	maxItem  = 1 << 40
)

// ReadTrace reads a trace: one item per line, a nonnegative integer. It ignores
// empty lines.
func ReadTrace(r io.Reader) ([]int, error) {
	var trace []int
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		k, err := strconv.Atoi(text)
		if err != nil || k < 0 || int64(k) > maxItem {
			return nil, fmt.Errorf("line %d: %.40q is not an integer from 0 to %d", n, text, int64(maxItem))
		}
		if trace = append(trace, k); len(trace) > maxTrace {
			return nil, fmt.Errorf("the trace is longer than %d accesses", maxTrace)
		}
	}
	return trace, lines.Err()
}

func abs(i int) int { return max(i, -i) }

// each returns a pattern that is a function of the index of the access.
func each(at func(i, items int) int) func(items, calls int, seed uint64) ([]int, error) {
	return func(items, calls int, _ uint64) ([]int, error) {
		trace := make([]int, calls)
		for i := range trace {
			trace[i] = at(i, items)
		}
		return trace, nil
	}
}

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x6c61726465720000)) }

func uniform(items, calls int, seed uint64) ([]int, error) {
	rng := source(seed)
	return each(func(_, n int) int { return rng.IntN(n - 1) })(items, calls, seed)
}

func zipfian(items, calls int, seed uint64) ([]int, error) {
	zipf := rand.NewZipf(source(seed), 2, 1, 1<<40)
	return each(func(_, n int) int { return int((zipf.Uint64() + 1) % uint64(n)) })(items, calls, seed)
}

func walk(items, calls int, seed uint64) ([]int, error) {
	rng, at := source(seed), 0.0
	return each(func(_, n int) int {
		at += rng.NormFloat64() + 0.5
		return ((int(math.Trunc(at)) % n) + n) % n
	})(items, calls, seed)
}

// read returns the first calls indexes of an order.
func read(o order.Order, calls int) []int {
	if o == nil {
		return nil
	}
	trace := make([]int, min(calls, o.Len()))
	for pos := range trace {
		trace[pos] = o.At(pos)
	}
	return trace
}

// passes returns a sufficient number of epochs over items for this number of calls.
func passes(items, calls int) int { return calls/items + 1 }

func epochs(items, calls int, seed uint64) ([]int, error) {
	o, err := order.Epochs(items, seed, passes(items, calls))
	return read(o, calls), err
}

// mixture reads a tenth of the items and the rest in turn, each in shuffled epochs.
func mixture(items, calls int, seed uint64) ([]int, error) {
	hot := max(1, items/10)
	often, err := order.Epochs(hot, seed, passes(hot, calls))
	if err != nil {
		return nil, err
	}
	seldom, err := order.Epochs(items-hot, seed+1, passes(items-hot, calls))
	if err != nil {
		return nil, err
	}
	rest := order.Then(seldom, order.Affine{Start: hot, Step: 1, N: items - hot})
	return read(inTurn(often, rest), calls), nil
}

func twoJobs(items, calls int, seed uint64) ([]int, error) {
	one, err := order.Epochs(items, seed, passes(items, calls))
	if err != nil {
		return nil, err
	}
	two, err := order.Epochs(items, seed+1, passes(items, calls))
	return read(inTurn(one, two), calls), err
}

func shards(items, calls int, seed uint64) ([]int, error) {
	const ranks = 4
	all, err := order.Epochs(items, seed, passes(items, ranks*calls))
	if err != nil {
		return nil, err
	}
	mine, err := order.Shard(all.Len(), 0, ranks)
	if err != nil {
		return nil, err
	}
	return read(order.Then(mine, all), calls), nil
}

// inTurn alternates between two orders, up to the end of the shorter one.
func inTurn(a, b order.Order) order.Order {
	n := order.Identity(min(a.Len(), b.Len()))
	return order.Interleave(order.Then(n, a), order.Then(n, b))
}
