package cache

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/larder-data/larder/internal/testing/testrand"
	"github.com/larder-data/larder/order"
)

// hits reads an order through a cache and counts the hits.
func hits(t testing.TB, c *Cache[int, int], o order.Order) int {
	t.Helper()
	n := 0
	for pos := range o.Len() {
		k := o.At(pos)
		if _, ok := c.Get(k); ok {
			n++
		} else {
			c.Put(k, k, 1, 0)
		}
	}
	return n
}

func optimal(t testing.TB, size int, o order.Order) *Cache[int, int] {
	t.Helper()
	c, err := NewOrdered[int](Options{Size: size}, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// maxHits returns the greatest number of hits of any choice of evictions and bypasses, by exhaustive search.
func maxHits(trace []int, size int, held []int) int {
	if len(trace) == 0 {
		return 0
	}
	k, rest := trace[0], trace[1:]
	if slices.Contains(held, k) {
		return 1 + maxHits(rest, size, held)
	}
	best := maxHits(rest, size, held) // bypass
	if len(held) < size {
		return max(best, maxHits(rest, size, append(slices.Clone(held), k)))
	}
	for i := range held {
		next := slices.Clone(held)
		next[i] = k
		best = max(best, maxHits(rest, size, next))
	}
	return best
}

func TestOptIsOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const items = 5
		trace := rapid.SliceOfN(rapid.IntRange(0, items-1), 0, 11).Draw(t, "trace")
		size := rapid.IntRange(1, 3).Draw(t, "size")
		o, err := order.Index(items, trace)
		if err != nil {
			t.Fatal(err)
		}
		c, err := NewOrdered[int](Options{Size: size}, o)
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for _, k := range trace {
			if _, ok := c.Get(k); ok {
				got++
			} else {
				c.Put(k, k, 1, 0)
			}
		}
		if want := maxHits(trace, size, nil); got != want {
			t.Fatalf("%d hits, the most is %d", got, want)
		}
	})
}

func TestOptOnKnownPatterns(t *testing.T) {
	const items, calls, size = 26, 26_000, 5
	for name, c := range map[string]struct {
		at   func(i int) int
		want float64
	}{
		"cyclic":         {func(i int) int { return i % items }, 19.2},
		"back-and-forth": {func(i int) int { return max(i%51-25, 25-i%51) }, 19.6},
		"hot-element":    {func(i int) int { return (i / 2 % items) * (i % 2) }, 59.6},
		"blocks":         {func(i int) int { return i / 4 % items }, 79.0},
		"sliding-window": {func(i int) int { return (i%4 + i/4) % items }, 77.2},
	} {
		trace := make([]int, calls)
		for i := range trace {
			trace[i] = c.at(i)
		}
		o, err := order.Index(items, trace)
		if err != nil {
			t.Fatal(err)
		}
		if got := 100 * float64(hits(t, optimal(t, size, o), o)) / calls; got < c.want-0.06 || got > c.want+0.06 {
			t.Errorf("%s: %.2f %% hits, want %.1f", name, got, c.want)
		}
	}
}

// TestShuffledEpochs checks that where every element is read once an epoch, opt has no more hits than hold: one cache
// size per epoch after the first.
func TestShuffledEpochs(t *testing.T) {
	const n, epochs = 50_000, 5
	o, err := order.Epochs(n, 1, epochs)
	if err != nil {
		t.Fatal(err)
	}
	for _, percent := range []int{10, 25, 50, 75} {
		size := n * percent / 100
		want := size * (epochs - 1)
		if got := hits(t, optimal(t, size, disguised{o}), o); got != want {
			t.Errorf("opt, %d %%: %d hits, want %d", percent, got, want)
		}
		if got := hits(t, newCache(t, Options{Policy: "hold", Size: size}), o); got != want {
			t.Errorf("hold, %d %%: %d hits, want %d", percent, got, want)
		}
	}
}

func TestWhereKnowingTheOrderPays(t *testing.T) {
	testrand.Long(t)
	const n, epochs, size = 50_000, 5, 5_000
	must := func(o order.Order, err error) order.Order {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	// Half of the reads cover a tenth of the elements, the other half the rest, shuffled again in every pass.
	half := order.Identity(n * epochs / 2)
	const hot = n / 10
	mixed := order.Interleave(
		order.Then(half, must(order.Epochs(hot, 1, n*epochs/2/hot))),
		order.Then(order.Then(half, must(order.Epochs(n-hot, 2, epochs))), order.Affine{Start: hot, Step: 1, N: n - hot}),
	)
	for name, c := range map[string]struct {
		o          order.Order
		opt, slack float64
	}{
		"with replacement":  {must(order.WithReplacement(n, n*epochs, 1)), 41, 1},
		"mixture":           {mixed, 50, 1},
		"one of four ranks": {order.Then(must(order.Shard(n*20, 0, 4)), must(order.Epochs(n, 1, 20))), 33, 1},
	} {
		skip := c.o.Len() / epochs // hits are counted from the second epoch on
		cache := optimal(t, size, c.o)
		got, counted := 0, 0
		for pos := range c.o.Len() {
			k := c.o.At(pos)
			_, ok := cache.Get(k)
			if !ok {
				cache.Put(k, k, 1, 0)
			}
			if pos >= skip {
				counted++
				if ok {
					got++
				}
			}
		}
		if rate := 100 * float64(got) / float64(counted); rate < c.opt-c.slack || rate > c.opt+c.slack {
			t.Errorf("%s: %.1f %% hits, want %.0f", name, rate, c.opt)
		}
	}
}

// disguised hides the kind of an order, so that Belady's rule runs without its shortcuts.
type disguised struct{ order.Order }

// TestHoldIsOptimal compares the rule with its shortcut where every element is read once a pass, from empty and filled
// caches.
func TestHoldIsOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		var o order.Order
		var err error
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			o, err = order.Cycle(n, rapid.IntRange(0, 4*n).Draw(t, "total"))
		case 1:
			o, err = order.Epochs(n, rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 4).Draw(t, "epochs"))
		default:
			o = order.Reverse(n)
		}
		if err != nil {
			t.Fatal(err)
		}
		size := rapid.IntRange(1, 6).Draw(t, "size")
		held := rapid.SliceOfNDistinct(rapid.IntRange(0, n), 0, size, rapid.ID).Draw(t, "held")
		count := func(o order.Order) (n int) {
			c, err := New[int, int](Options{Policy: "lru", Size: size})
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range held {
				c.Put(k, k, 1, 0)
			}
			SetFutureReads(c, o, 0)
			for pos := range o.Len() {
				if _, ok := c.Get(o.At(pos)); ok {
					n++
				} else {
					c.Put(o.At(pos), 0, 1, 0)
				}
			}
			SetFutureReads(c, nil, 0)
			return n
		}
		if got, want := count(o), count(disguised{o}); got != want {
			t.Fatalf("%d hits, Belady's rule has %d", got, want)
		}
	})
}

// TestOptByBytesOfEqualElements checks that, for elements of equal size, a limit in bytes acts like a limit in elements.
func TestOptByBytesOfEqualElements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		trace := rapid.SliceOfN(rapid.IntRange(0, 30), 0, 300).Draw(t, "trace")
		size := rapid.IntRange(1, 12).Draw(t, "size")
		o, err := order.Index(31, trace)
		if err != nil {
			t.Fatal(err)
		}
		var got [2]int
		for i, options := range []Options{{Size: size}, {Bytes: int64(size) * 7}} {
			c, err := NewOrdered[int](options, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range trace {
				if _, ok := c.Get(k); ok {
					got[i]++
				} else {
					c.Put(k, k, 7, 3)
				}
			}
		}
		if got[0] != got[1] {
			t.Fatalf("%d hits bounded by size, %d by bytes", got[0], got[1])
		}
	})
}

// maxSaved returns the most that any choice of evictions and bypasses saves, by exhaustive search.
func maxSaved(trace []int, costs []time.Duration, sizes []int64, capacity int64, held uint) time.Duration {
	if len(trace) == 0 {
		return 0
	}
	k, rest := trace[0], trace[1:]
	if held&(1<<k) != 0 {
		return costs[k] + maxSaved(rest, costs, sizes, capacity, held)
	}
	best := time.Duration(0)
	for keep := uint(0); keep < 1<<len(sizes); keep++ {
		if keep&^(held|1<<k) != 0 {
			continue // not cached
		}
		var bytes int64
		for i, b := range sizes {
			if keep&(1<<i) != 0 {
				bytes += b
			}
		}
		if bytes <= capacity {
			best = max(best, maxSaved(rest, costs, sizes, capacity, keep))
		}
	}
	return best
}

// TestOptByCostPerByte checks that opt saves nearly the maximum time for elements of many sizes and costs. It saves more
// than policies that lack the order or the costs.
func TestOptByCostPerByte(t *testing.T) {
	const items, reads, capacity, traces = 5, 9, 6, 150
	rng := rand.New(rand.NewPCG(1, 1))
	var best time.Duration
	saved := map[string]time.Duration{}
	for range traces {
		costs, sizes, trace := make([]time.Duration, items), make([]int64, items), make([]int, reads)
		for i := range items {
			costs[i], sizes[i] = cheap<<rng.IntN(8), 1+rng.Int64N(4)
		}
		for i := range trace {
			trace[i] = rng.IntN(items)
		}
		o, err := order.Index(items, trace)
		if err != nil {
			t.Fatal(err)
		}
		best += maxSaved(trace, costs, sizes, capacity, 0)
		run := func(name string, c *Cache[int, int]) {
			for _, k := range trace {
				if _, ok := c.Get(k); !ok {
					c.Put(k, k, sizes[k], costs[k])
				}
			}
			saved[name] += c.Stats().Saved
		}
		c, err := NewOrdered[int](Options{Bytes: capacity}, o)
		if err != nil {
			t.Fatal(err)
		}
		run("opt", c)
		for _, policy := range []string{"cost", "lru", "sieve", "hold", "fifo"} {
			run(policy, newCache(t, Options{Policy: policy, Bytes: capacity}))
		}
	}
	t.Log("best", best, saved)
	if 100*saved["opt"] < 95*best || saved["opt"] > best {
		t.Errorf("opt saves %v, the most is %v", saved["opt"], best)
	}
	for policy, s := range saved {
		if policy != "opt" && s >= saved["opt"] {
			t.Errorf("%s saves %v, opt %v", policy, s, saved["opt"])
		}
	}
}

// BenchmarkOpt reads a million items in shuffled epochs through a cache of a quarter of them, as shipped and by Belady's
// full rule. The reads of a few epochs are listed beforehand; more follow after those.
func BenchmarkOpt(b *testing.B) {
	const n, listed = 1_000_000, 4
	epochs, err := order.Epochs(n, 1, 2*listed)
	if err != nil {
		b.Fatal(err)
	}
	keys := make([]int, n*listed)
	for pos := range keys {
		keys[pos] = epochs.At(pos)
	}
	for name, o := range map[string]order.Order{"epochs": epochs, "belady": disguised{epochs}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var c *Cache[int, int]
			left := []int(nil)
			for b.Loop() {
				if len(left) == 0 {
					b.StopTimer()
					c, left = optimal(b, n/4, o), keys
					b.StartTimer()
				}
				if _, ok := c.Get(left[0]); !ok {
					c.Put(left[0], 0, 1, 0)
				}
				left = left[1:]
			}
		})
	}
}
