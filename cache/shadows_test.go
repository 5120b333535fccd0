package cache

import (
	"maps"
	"slices"
	"testing"

	"github.com/larder-data/larder/internal/testing/testrand"
)

// TestShadowsHoldWhatTheirPoliciesHold checks that shadows of a small cache are exact, although they begin when it is
// full. The counts of w-tinylfu are not, as it drops them when it grows.
func TestShadowsHoldWhatTheirPoliciesHold(t *testing.T) {
	weigh := func(k int) int64 { return 1 + int64(spread(k)%9) }
	for seed := range uint64(40) {
		d := draw(3_000_000+seed, 3000)
		if d.size > 500 {
			continue
		}
		o := Options{Policy: "auto", Bytes: int64(5 * max(d.size, 2))}
		auto := newCache(t, o)
		read(auto, d.keys, weigh)
		a := auto.policy.(*auto_)
		if a.shadows == nil {
			continue // never full
		}
		for i, policy := range candidates {
			if policy == "w-tinylfu" {
				continue
			}
			o.Policy = policy
			alone := newCache(t, o)
			read(alone, d.keys, weigh)
			if got, want := keysOf(a.shadows.all[i]), keysOf(alone); !slices.Equal(got, want) {
				t.Fatalf("%v: the shadow of %s holds %v, a cache %v", d, policy, got, want)
			}
		}
	}
}

type auto_ = auto[int, int]

func read(c *Cache[int, int], keys []int, weigh func(k int) int64) (hits int) {
	for _, k := range keys {
		if _, ok := c.Get(k); ok {
			hits++
		} else {
			c.Put(k, k, weigh(k), 0)
		}
	}
	return hits
}

func keysOf[V any](c *Cache[int, V]) []int {
	all := map[int]bool{}
	for e := range c.entries.all() {
		all[e.key] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// TestAFollowerLosesAHitForEachPlaceAtMost checks that a follower has the hits of its leader from any time on. It misses
// at most one for each entry that only the leader held.
func TestAFollowerLosesAHitForEachPlaceAtMost(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates many traces in one goroutine, which takes seconds")
	}
	for _, seed := range testrand.Some(t, 200, 5) {
		d := draw(4_000_000+uint64(seed), 4000)
		if d.size > 500 {
			continue
		}
		for i, policy := range candidates {
			c := newCache(t, Options{Policy: "auto", Size: d.size})
			read(c, d.keys[:len(d.keys)/2], alike)
			a := c.policy.(*auto_)
			if a.shadows == nil {
				break // never full
			}
			a.choice.current = i
			a.change()
			lacks := 0
			for _, k := range keysOf(a.shadows.all[i]) {
				if c.entries.get(k) == nil {
					lacks++
				}
			}
			leads, hits := 0, 0
			for _, k := range d.keys[len(d.keys)/2:] {
				a.choice.reads = 0 // nothing else is chosen
				if a.shadows.all[i].entries.get(k) != nil {
					leads++
				}
				hits += read(c, []int{k}, alike)
			}
			if hits < leads-lacks {
				t.Fatalf("%v: %s hits %d times, its follower %d, which lacked %d entries", d, policy, leads, hits, lacks)
			}
		}
	}
}

// TestAutoKeepsUpWithEntriesThatGrow checks entries that get most of their bytes after they were added, as samples
// decoded on read do.
func TestAutoKeepsUpWithEntriesThatGrow(t *testing.T) {
	const items, fits, bytes = 100, 30, 1000
	c := newCache(t, Options{Policy: "auto", Bytes: fits * bytes})
	hits := 0
	for i := range 100 * items {
		k := i % items
		if _, ok := c.Get(k); ok {
			hits++
			continue
		}
		c.Put(k, k, 1, 0)
		c.Update(k, bytes)
		if held := c.Stats().Bytes; held > fits*bytes {
			t.Fatalf("%d bytes are held, %d are allowed", held, fits*bytes)
		}
	}
	if least := 100*fits - items - learning(fits); hits < least {
		t.Errorf("going round has %d hits, holding would have %d, and with learning %d", hits, 99*fits, least)
	}
}

// TestShadowsFitTheCache checks entries that become smaller and hence more numerous, and that the shadows of a large
// cache sample the keys.
func TestShadowsFitTheCache(t *testing.T) {
	c := newCache(t, Options{Policy: "auto", Bytes: 40 * shadowSize})
	a := c.policy.(*auto_)
	for k := range 100 {
		c.Put(k, k, shadowSize, 0)
	}
	if a.shadows.rate != 1 {
		t.Fatalf("of 40 entries one in %d keys is watched", a.shadows.rate)
	}
	for k := range 100 * shadowSize {
		c.Get(k)
		c.Put(k, k, 1, 0)
	}
	if c.Len() < 30*shadowSize || a.shadows.rate < 8 {
		t.Errorf("of %d entries one in %d keys is watched", c.Len(), a.shadows.rate)
	}
	for i, s := range a.shadows.all {
		if n := s.Len(); n > 4*shadowSize {
			t.Errorf("the shadow of %s holds %d keys", candidates[i], n)
		}
	}
}
