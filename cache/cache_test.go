package cache

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func newCache(t testing.TB, o Options) *Cache[int, int] {
	t.Helper()
	c, err := New[int, int](o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestHitCounts checks the policies against the hits of an independent implementation on known patterns: 26 items, 26
// 000 calls, 5 slots.
func TestHitCounts(t *testing.T) {
	const items, calls, size = 26, 26_000, 5
	patterns := map[string]func(i int) int{
		"cyclic":         func(i int) int { return i % items },
		"back-and-forth": func(i int) int { return max(i%51-25, 25-i%51) },
		"hot-element":    func(i int) int { return (i / 2 % items) * (i % 2) },
		"blocks":         func(i int) int { return i / 4 % items },
		"sliding-window": func(i int) int { return (i%4 + i/4) % items },
	}
	for _, c := range []struct {
		pattern                     string
		fifo, lifo, lru, mru, sieve float64 // percent
	}{
		{"cyclic", 0.0, 15.4, 0.0, 16.0, 0.0},
		{"back-and-forth", 17.6, 17.6, 17.6, 17.6, 17.6},
		{"hot-element", 42.3, 57.7, 51.9, 19.2, 51.9},
		{"blocks", 75.0, 78.8, 75.0, 79.0, 75.0},
		{"sliding-window", 75.0, 17.3, 75.0, 56.2, 75.0},
	} {
		for policy, want := range map[string]float64{"fifo": c.fifo, "lifo": c.lifo, "lru": c.lru, "mru": c.mru, "sieve": c.sieve} {
			cache, model := newCache(t, Options{Policy: policy, Size: size}), newModel(policy, size)
			hits, modelHits := 0, 0
			for i := range calls {
				k := patterns[c.pattern](i)
				if _, ok := cache.Get(k); ok {
					hits++
				} else {
					cache.Put(k, k, 1, 0)
				}
				if model.access(k) {
					modelHits++
				}
			}
			if got := 100 * float64(hits) / calls; got < want-0.06 || got > want+0.06 {
				t.Errorf("%s, %s: %.2f %% hits, want %.1f", c.pattern, policy, got, want)
			}
			if policy != "sieve" && hits != modelHits {
				t.Errorf("%s, %s: %d hits, the model has %d", c.pattern, policy, hits, modelHits)
			}
		}
	}
}

// model is a slow but obviously correct cache: a slice from old to new.
type model struct {
	policy string
	size   int
	keys   []int
}

func newModel(policy string, size int) *model { return &model{policy: policy, size: size} }

func (m *model) access(k int) (hit bool) {
	if i := slices.Index(m.keys, k); i >= 0 {
		if m.policy == "lru" || m.policy == "mru" {
			m.keys = append(slices.Delete(m.keys, i, i+1), k)
		}
		return true
	}
	if len(m.keys) == m.size {
		switch m.policy {
		case "fifo", "lru":
			m.keys = m.keys[1:]
		case "lifo", "mru":
			m.keys = m.keys[:m.size-1]
		case "hold":
			return false
		}
	}
	m.keys = append(m.keys, k)
	return false
}

func TestPoliciesAgreeWithTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy := rapid.SampledFrom([]string{"fifo", "lifo", "lru", "mru", "hold"}).Draw(t, "policy")
		size := rapid.IntRange(1, 6).Draw(t, "size")
		c, err := New[int, int](Options{Policy: policy, Size: size})
		if err != nil {
			t.Fatal(err)
		}
		m := newModel(policy, size)
		for _, k := range rapid.SliceOf(rapid.IntRange(0, 9)).Draw(t, "accesses") {
			v, hit := c.Get(k)
			if !hit {
				c.Put(k, -k, 1, 0)
			} else if v != -k {
				t.Fatalf("the value of %d is %d", k, v)
			}
			if want := m.access(k); hit != want {
				t.Fatalf("access to %d: hit %v, want %v", k, hit, want)
			}
			if c.Len() != len(m.keys) {
				t.Fatalf("%d entries, want %d", c.Len(), len(m.keys))
			}
		}
	})
}

// TestBoundsHold runs random operations, and checks the limits and the byte count after each step.
func TestBoundsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Options{
			Policy: rapid.SampledFrom(Policies()).Draw(t, "policy"),
			Size:   rapid.IntRange(0, 4).Draw(t, "size"), Bytes: rapid.Int64Range(1, 20).Draw(t, "bytes"),
		}
		c, err := New[int, int](o)
		if err != nil {
			t.Fatal(err)
		}
		key := rapid.IntRange(0, 6)
		bytes := rapid.Int64Range(0, 25)
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				k, b := key.Draw(t, "key"), bytes.Draw(t, "b")
				c.Put(k, k, b, 0)
				if c.entries.get(k) != nil && b > o.Bytes {
					t.Fatalf("an entry of %d bytes was taken in", b)
				}
			},
			"get":    func(t *rapid.T) { c.Get(key.Draw(t, "key")) },
			"update": func(t *rapid.T) { c.Update(key.Draw(t, "key"), bytes.Draw(t, "b")) },
			"remove": func(t *rapid.T) { c.Remove(key.Draw(t, "key")) },
			"clear":  func(*rapid.T) { c.Clear() },
			"": func(t *rapid.T) {
				var sum int64
				for e := range c.entries.all() {
					sum += e.bytes
				}
				if s := c.Stats(); s.Bytes != sum || sum > o.Bytes || o.Size > 0 && c.Len() > o.Size {
					t.Fatalf("%d entries of %d bytes, %d counted, bounds %+v", c.Len(), sum, s.Bytes, o)
				}
			},
		})
	})
}

func TestLoadComputesOnce(t *testing.T) {
	for _, policy := range Policies() {
		synctest.Test(t, func(t *testing.T) {
			const keys = 26
			o := Options{Policy: policy, Size: 5}
			if policy == "memo" {
				o.Size = 0
			}
			c := newCache(t, o)
			var runs atomic.Int64
			var wait sync.WaitGroup
			for g := range 8 {
				wait.Go(func() {
					for i := range 10 * keys {
						k := (i + g) % keys
						v, err := c.Load(t.Context(), k, func(context.Context) (int, int64, error) {
							runs.Add(1)
							time.Sleep(time.Millisecond)
							return -k, 1, nil
						})
						if v != -k || err != nil {
							t.Error(v, err)
						}
					}
				})
			}
			wait.Wait()
			if policy == "memo" && runs.Load() != keys {
				t.Errorf("memo: %d computations of %d keys", runs.Load(), keys)
			}
		})
	}
}

func TestLoadDoesNotBringBackWhatWasRemoved(t *testing.T) {
	c := newCache(t, Options{Policy: "memo"})
	v, err := c.Load(t.Context(), 1, func(context.Context) (int, int64, error) {
		c.Remove(1)
		return 5, 1, nil
	})
	if v != 5 || err != nil || c.Len() != 0 {
		t.Errorf("%d, %v, %d entries", v, err, c.Len())
	}
	boom := errors.New("boom")
	if _, err := c.Load(t.Context(), 1, func(context.Context) (int, int64, error) { return 0, 0, boom }); !errors.Is(err, boom) || c.Len() != 0 {
		t.Errorf("an error gave %v and %d entries", err, c.Len())
	}
}

func TestNilIsAValue(t *testing.T) {
	c, err := New[string, any](Options{Policy: "lru", Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	c.Put("k", nil, 0, time.Second)
	if v, ok := c.Get("k"); v != nil || !ok || c.Stats().Saved != time.Second {
		t.Errorf("%v, %v, %+v", v, ok, c.Stats())
	}
}

func TestRefused(t *testing.T) {
	for _, o := range []Options{{Policy: "lur", Size: 1}, {Policy: "lru"}, {Policy: "memo", Size: -1}, {}} {
		if _, err := New[int, int](o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}

func BenchmarkGetHit(b *testing.B) {
	for _, policy := range Policies() {
		b.Run(policy, func(b *testing.B) {
			c := newCache(b, Options{Policy: policy, Size: 1024})
			for i := range 1024 {
				c.Put(i, i, 1, 0)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				c.Get(i)
				i = (i + 1) & 1023
			}
		})
	}
}

func BenchmarkPutWhenFull(b *testing.B) {
	for _, policy := range Policies() {
		if policy == "memo" {
			continue // never full
		}
		b.Run(policy, func(b *testing.B) {
			c := newCache(b, Options{Policy: policy, Size: 1024})
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				c.Put(i, i, 1, 0)
				i++
			}
		})
	}
}

// BenchmarkReadWhenFull reads four times as many keys as fit, and adds those it misses.
func BenchmarkReadWhenFull(b *testing.B) {
	for _, policy := range []string{"auto", "lru", "w-tinylfu"} {
		for _, size := range []int{16, 1024, 4096, 65536} {
			b.Run(fmt.Sprintf("%s-%d", policy, size), func(b *testing.B) {
				c := newCache(b, Options{Policy: policy, Size: size})
				read := func(i int) {
					k := spread(i) % uint64(size) * (spread(-i) % 4) // a quarter of them is 0
					if _, ok := c.Get(int(k)); !ok {
						c.Put(int(k), 0, 1, 0)
					}
				}
				for i := range 8 * size {
					read(i)
				}
				b.ReportAllocs()
				i := 8 * size
				for b.Loop() {
					read(i)
					i++
				}
			})
		}
	}
}
