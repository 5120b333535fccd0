package cache

import (
	"testing"

	"pgregory.net/rapid"
)

// TestPagedIsAMap compares the table of positions with a map, and checks that a page is removed with its last entry.
func TestPagedIsAMap(t *testing.T) {
	keys := []int{0, 1, 63, 64, 1000, maxPages*64 - 1, maxPages * 64, 1 << 40, -1, -1 << 40}
	rapid.Check(t, func(t *rapid.T) {
		p := &paged[int]{}
		isMap(t, p, keys, func() {
			for i, pg := range p.pages {
				if (pg.there == 0) != (pg.slots == nil) {
					t.Fatalf("page %d: %b in use, slots %v", i, pg.there, pg.slots)
				}
			}
		})
	})
}

// TestHashedIsAMap does so for the table of other keys, also with many in one bucket, and with as many buckets as
// entries.
func TestHashedIsAMap(t *testing.T) {
	keys := make([]int, 40)
	for i := range keys {
		keys[i] = i * 7
	}
	rapid.Check(t, func(t *rapid.T) {
		few := rapid.SampledFrom([]uint64{1, 3, 1 << 32, 1<<64 - 1}).Draw(t, "hashes")
		h, most := &hashed[int, int]{hash: func(k int) uint64 { return spread(k) % few }}, 0
		isMap(t, h, keys, func() {
			if most = max(most, h.size()); len(h.buckets) != most {
				t.Fatalf("%d buckets for %d entries at most", len(h.buckets), most)
			}
		})
	})
}

// isMap compares an index of keys with a map under random operations.
func isMap(t *rapid.T, x index[int, int], keys []int, check func()) {
	model := map[int]*entry[int, int]{}
	key := rapid.SampledFrom(keys)
	t.Repeat(map[string]func(*rapid.T){
		"set": func(t *rapid.T) {
			e := &entry[int, int]{key: key.Draw(t, "key")}
			if model[e.key] == nil {
				x.set(e.key, e)
				model[e.key] = e
			}
		},
		"remove": func(t *rapid.T) {
			k := key.Draw(t, "key")
			x.remove(k)
			delete(model, k)
		},
		"remove what is listed": func(*rapid.T) {
			for e := range x.all() {
				x.remove(e.key)
			}
			clear(model)
		},
		"": func(t *rapid.T) {
			for _, k := range keys {
				if x.get(k) != model[k] {
					t.Fatalf("key %d: %v, want %v", k, x.get(k), model[k])
				}
			}
			seen := 0
			for e := range x.all() {
				if model[e.key] != e {
					t.Fatalf("key %d is listed and should not be", e.key)
				}
				seen++
			}
			if seen != len(model) || x.size() != len(model) {
				t.Fatalf("%d listed, %d counted, want %d", seen, x.size(), len(model))
			}
			check()
		},
	})
}
