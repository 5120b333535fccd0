package work

import (
	"context"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/dgraph-io/ristretto/v2"
	glru "github.com/golang/groupcache/lru"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/larder-data/larder/cache"
	"github.com/maypok86/otter/v2"
)

// entries is the capacity of the caches.
const entries = 1024

// inMemory is the common interface of caches in memory.
type inMemory struct {
	get  func(k int) bool
	put  func(k int)
	wait func() // waits until puts are applied; may be nil
}

// openCache creates the system's cache.
func openCache(contestant string) (c inMemory, err error) {
	switch contestant {
	case "golang-lru":
		c, err := lru.New[int, int](entries)
		return inMemory{get: func(k int) bool { _, ok := c.Get(k); return ok }, put: func(k int) { c.Add(k, k) }}, err
	case "otter":
		c, err := otter.New(&otter.Options[int, int]{MaximumSize: entries})
		return inMemory{get: func(k int) bool { _, ok := c.GetIfPresent(k); return ok }, put: func(k int) { c.Set(k, k) }, wait: c.CleanUp}, err
	case "ristretto":
		c, err := ristretto.NewCache(&ristretto.Config[int, int]{NumCounters: 10 * entries, MaxCost: entries, BufferItems: 64, IgnoreInternalCost: true})
		return inMemory{
			get:  func(k int) bool { _, ok := c.Get(k); return ok },
			put:  func(k int) { c.Set(k, k, 1) },
			wait: c.Wait,
		}, err
	case "groupcache/lru, with a lock":
		c, mu := glru.New(entries), new(sync.Mutex)
		return inMemory{
			get: func(k int) bool { mu.Lock(); defer mu.Unlock(); _, ok := c.Get(k); return ok },
			put: func(k int) { mu.Lock(); defer mu.Unlock(); c.Add(k, k) },
		}, nil
	}
	policy, ours := strings.CutPrefix(contestant, "Larder ")
	if !ours {
		return c, errUnknown
	}
	l, err := cache.New[int, int](cache.Options{Policy: policy, Size: entries})
	return inMemory{get: func(k int) bool { _, ok := l.Get(k); return ok }, put: func(k int) { l.Put(k, k, 1, 0) }}, err
}

// policies is the row of caches in memory: nanoseconds per access, and the hit ratio for
// a Zipf distribution over 64 times as many keys as the capacity.
func policies(_ context.Context, j Job) (Figures, error) {
	ready()
	f := Figures{}
	for _, m := range []struct {
		name     string
		parallel bool
		put      bool
	}{{"get", false, false}, {"get_parallel", true, false}, {"put", false, true}, {"put_parallel", true, true}} {
		c, err := openCache(j.Contestant)
		if err != nil {
			return nil, err
		}
		for k := range entries {
			c.put(k)
		}
		if c.wait != nil {
			c.wait()
		}
		do := func(first int) {
			for i := range j.N {
				if m.put {
					c.put(first + i)
				} else {
					c.get((first + i) % entries)
				}
			}
		}
		workers := 1
		if m.parallel {
			workers = runtime.GOMAXPROCS(0)
		}
		var wg sync.WaitGroup
		begin := time.Now()
		for w := range workers {
			wg.Go(func() { do((w + 1) << 40) })
		}
		wg.Wait()
		f[m.name] = seconds(begin) / float64(j.N*workers)
	}
	c, err := openCache(j.Contestant)
	if err != nil {
		return nil, err
	}
	f["hits"] = zipf(c, j.N/4)
	return f, nil
}

// zipf returns the hit ratio of n accesses. A missing key is put, and the put applied,
// before the next access.
func zipf(c inMemory, n int) float64 {
	z, hits := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.01, 1, 64*entries), 0
	for range n {
		k := int(z.Uint64())
		if c.get(k) {
			hits++
			continue
		}
		c.put(k)
		if c.wait != nil {
			c.wait()
		}
	}
	return float64(hits) / float64(n)
}
