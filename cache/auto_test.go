package cache

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/larder-data/larder/internal/testing/testrand"
)

// trace is one of the patterns on which policies are compared.
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

// hitsOf returns how many reads of a trace hit. Missing items are added with the bytes that weigh returns.
func hitsOf(t testing.TB, o Options, trace []int, weigh func(k int) int64) int {
	t.Helper()
	c := newCache(t, o)
	n := 0
	for _, k := range trace {
		if _, ok := c.Get(k); ok {
			n++
		} else {
			c.Put(k, k, weigh(k), 0)
		}
	}
	return n
}

func alike(int) int64 { return 1 }

// regret is the number of hits that auto has fewer than the best policy on a trace.
type regret struct {
	of         string // the trace
	size       int
	reads      int
	best       string
	hits, auto int // of the best, of auto
}

func (r regret) String() string {
	n := float64(r.reads) / 100
	return fmt.Sprintf("%s: %s has %.2f %% hits, auto %.2f, and may have %.2f less", r.of, r.best, float64(r.hits)/n, float64(r.auto)/n, r.may()/n)
}

// may returns how many hits fewer than the best auto may have, according to its documentation.
func (r regret) may() float64 { return 0.01*float64(r.reads) + float64(learning(r.size)) }

func (r regret) over() float64 { return (float64(r.hits-r.auto) - r.may()) / float64(r.reads) }

func regretOf(t testing.TB, of string, o Options, size int, trace []int, weigh func(k int) int64) regret {
	t.Helper()
	r := regret{of: of, size: size, reads: len(trace)}
	for _, p := range candidates {
		o.Policy = p
		if hits := hitsOf(t, o, trace, weigh); hits >= r.hits {
			r.hits, r.best = hits, p
		}
	}
	o.Policy = "auto"
	r.auto = hitsOf(t, o, trace, weigh)
	return r
}

// TestAutoKnowsAllPolicies checks that auto tries every policy, so that naming one is never better.
func TestAutoKnowsAllPolicies(t *testing.T) {
	for _, p := range Policies() {
		_, ours := registered[p]
		if p != "auto" && p != "memo" && !ours && !slices.Contains(candidates[:], p) {
			t.Errorf("%s is not among the candidates of auto", p)
		}
	}
}

// TestAutoOnKnownPatterns checks that auto has at most one percentage point less than the best policy on each pattern,
// learning included.
func TestAutoOnKnownPatterns(t *testing.T) {
	for _, name := range []string{"cyclic", "back-and-forth", "hot-element", "blocks", "sliding-window", "uniform", "zipfian", "random-walk"} {
		r := regretOf(t, name, Options{Size: 5}, 5, trace(name, 26, 26_000), alike)
		if r.hits-r.auto > r.reads/100 {
			t.Error(r)
		} else {
			t.Log(r)
		}
	}
}

// TestAutoIsNearTheBest compares auto with the best policy on random traces of many families, lengths, item counts and
// cache sizes.
func TestAutoIsNearTheBest(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates many traces in one goroutine, which takes seconds")
	}
	var traces []func() regret
	for i := range uint64(320) {
		traces = append(traces, func() regret {
			d := draw(i+1_000_000, 30_000)
			return regretOf(t, fmt.Sprintf("trace %d, %v", i, d), Options{Size: d.size}, d.size, d.keys, alike)
		})
	}
	report(t, some(t, traces, 5))
}

// some returns the regrets of a sample of the traces, or of all. It runs one trace per processor concurrently.
func some(t *testing.T, traces []func() regret, every int) []regret {
	t.Helper()
	chosen := testrand.Some(t, len(traces), every)
	all, next := make([]regret, len(chosen)), make(chan int)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				all[i] = traces[chosen[i]]()
			}
		})
	}
	for i := range chosen {
		next <- i
	}
	close(next)
	wg.Wait()
	return all
}

// report fails for each trace on which auto is worse than allowed, and prints the worst.
func report(t *testing.T, all []regret) {
	t.Helper()
	worst, lacks, lean := all[0], 0.0, 0
	for _, r := range all {
		if r.over() > 0 {
			t.Error(r)
		}
		if r.over() > worst.over() {
			worst = r
		}
		lacks += float64(r.hits-r.auto) / float64(r.reads)
		if r.may() < 0.05*float64(r.reads) {
			lean++
		}
	}
	t.Logf("%d traces, on %d of which auto may lack less than 5 points; it lacks %.2f on average; worst: %v", len(all), lean, 100*lacks/float64(len(all)), worst)
}

// TestAutoOnWhatItWasNotMadeFor covers hard cases: orders that change once they are detected, caches of one entry or
// nearly all items, and byte limits with very different sizes.
func TestAutoOnWhatItWasNotMadeFor(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates many traces in one goroutine, which takes seconds")
	}
	const reads = 20_000
	var traces []func() regret
	add := func(of string, o Options, size int, keys []int, weigh func(k int) int64) {
		traces = append(traces, func() regret { return regretOf(t, of, o, size, keys, weigh) })
	}
	for i, size := range []int{1, 2, 3, 5, 17, 60, 100, 400} {
		for _, n := range []int{3, size + 1, 3 * size, 40 * size} {
			for _, phase := range []int{4 * size, 40 * size} {
				keys := switching(uint64(i), n, phase, reads)
				add(fmt.Sprintf("every %d reads another order of %d items, size %d", phase, n, size), Options{Size: size}, size, keys, alike)
			}
		}
	}
	for i := range uint64(40) {
		d := draw(2_000_000+i, reads)
		weigh := func(k int) int64 { return 1 + int64(spread(k)%100)*int64(spread(k)%100)/100 }
		add(fmt.Sprintf("in bytes, %v", d), Options{Bytes: int64(34 * d.size)}, d.size, d.keys, weigh)
	}
	add("less than there is space for", Options{Size: 1000}, 1000, switching(99, 500, 100, 900), alike)
	report(t, some(t, traces, 5))
}

// switching changes between orders that different policies are best for.
func switching(seed uint64, n, phase, reads int) []int {
	rng := rand.New(rand.NewPCG(seed, 5))
	orders := []reader{loop(0, n), zipf(rng, n, 1.2), backAndForth(n), blocks(n, 3)}
	keys := make([]int, reads)
	for i := range keys {
		keys[i] = orders[i/phase%len(orders)]()
	}
	return keys
}

// TestAutoOfALargeCache has its shadows sample the keys.
func TestAutoOfALargeCache(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates many traces in one goroutine, which takes seconds")
	}
	const items, size = 20_000, 5_000
	var traces []func() regret
	for _, order := range []struct {
		name string
		of   func(i int) int // index of the next reader
	}{
		{"a loop", func(int) int { return 0 }},
		{"zipf", func(int) int { return 1 }},
		{"a loop, then zipf", func(i int) int { return i / (10 * items) }},
		{"half a loop, half zipf", func(i int) int { return i % 2 }},
	} {
		traces = append(traces, func() regret {
			readers := []reader{loop(0, items), zipf(rand.New(rand.NewPCG(1, 1)), items, 1)}
			keys := make([]int, 20*items)
			for i := range keys {
				keys[i] = readers[order.of(i)]()
			}
			return regretOf(t, order.name, Options{Size: size}, size, keys, alike)
		})
	}
	report(t, some(t, traces, 4))
}
