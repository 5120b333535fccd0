package cache

import (
	"testing"

	"pgregory.net/rapid"
)

// TestPagedIsAMap holds the table of positions to what a map does, and to
// pages that go when their last entry does.
func TestPagedIsAMap(t *testing.T) {
	keys := []int{0, 1, 63, 64, 1000, maxPages*64 - 1, maxPages * 64, 1 << 40, -1, -1 << 40}
	rapid.Check(t, func(t *rapid.T) {
		p, model := &paged[int]{}, hashed[int, int]{}
		key := rapid.SampledFrom(keys)
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				e := &entry[int, int]{key: key.Draw(t, "key")}
				p.set(e.key, e)
				model.set(e.key, e)
			},
			"remove": func(t *rapid.T) {
				k := key.Draw(t, "key")
				p.remove(k)
				model.remove(k)
			},
			"": func(t *rapid.T) {
				for _, k := range keys {
					if p.get(k) != model.get(k) {
						t.Fatalf("key %d: %v, want %v", k, p.get(k), model.get(k))
					}
				}
				seen := 0
				for e := range p.all() {
					if model.get(e.key) != e {
						t.Fatalf("key %d is listed and should not be", e.key)
					}
					seen++
				}
				if seen != model.size() || p.size() != model.size() {
					t.Fatalf("%d listed, %d counted, want %d", seen, p.size(), model.size())
				}
				for i, pg := range p.pages {
					if (pg.there == 0) != (pg.slots == nil) {
						t.Fatalf("page %d: %b in use, slots %v", i, pg.there, pg.slots)
					}
				}
			},
		})
	})
}
