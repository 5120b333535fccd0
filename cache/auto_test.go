package cache

import (
	"math"
	"math/rand/v2"
	"testing"
)

// trace is one of the patterns that policies are compared on.
func trace(name string, items, calls int) []int {
	rng := rand.New(rand.NewPCG(7, 9))
	zipf := rand.NewZipf(rng, 2, 1, 1<<30)
	walk := 0.0
	all := make([]int, calls)
	for i := range all {
		switch name {
		case "cyclic":
			all[i] = i % items
		case "back-and-forth":
			all[i] = int(math.Abs(float64(i%51 - 25)))
		case "hot-element":
			all[i] = (i / 2 % items) * (i % 2)
		case "blocks":
			all[i] = i / 4 % items
		case "sliding-window":
			all[i] = (i%4 + i/4) % items
		case "uniform":
			all[i] = rng.IntN(items - 1)
		case "zipfian":
			all[i] = int((zipf.Uint64() + 1) % uint64(items))
		case "random-walk":
			walk += rng.NormFloat64() + 0.5
			all[i] = ((int(walk) % items) + items) % items
		}
	}
	return all
}

func rate(t *testing.T, o Options, trace []int) float64 {
	t.Helper()
	c := newCache(t, o)
	n := 0
	for _, k := range trace {
		if _, ok := c.Get(k); ok {
			n++
		} else {
			c.Put(k, k, 1, 0)
		}
	}
	return 100 * float64(n) / float64(len(trace))
}

// TestAutoIsNearTheBest: on each pattern auto has at most a point less than the
// policy that is best on it.
func TestAutoIsNearTheBest(t *testing.T) {
	for _, name := range []string{"cyclic", "back-and-forth", "hot-element", "blocks", "sliding-window", "uniform", "zipfian", "random-walk"} {
		trace := trace(name, 26, 26_000)
		best, policy := 0.0, ""
		for _, p := range Policies() {
			if p == "memo" || p == "auto" || p == "rr" {
				continue
			}
			if r := rate(t, Options{Policy: p, Size: 5}, trace); r > best {
				best, policy = r, p
			}
		}
		if got := rate(t, Options{Policy: "auto", Size: 5}, trace); got < best-1 {
			t.Errorf("%s: auto has %.1f %% hits, %s has %.1f", name, got, policy, best)
		} else {
			t.Logf("%s: auto %.1f, %s %.1f", name, got, policy, best)
		}
	}
}

// TestAutoOfALargeCache has its shadows look at a sample of the keys.
func TestAutoOfALargeCache(t *testing.T) {
	const items, size = 20_000, 5_000
	all := make([]int, 10*items)
	for i := range all {
		all[i] = i % items
	}
	if got, lru := rate(t, Options{Policy: "auto", Size: size}, all), rate(t, Options{Policy: "lru", Size: size}, all); got < 15 || lru != 0 {
		t.Errorf("over a cycle auto has %.1f %% hits and lru %.1f", got, lru)
	}
}
