package work

import (
	"context"
	"runtime"

	"github.com/dgraph-io/ristretto/v2"
	"github.com/golang/groupcache/lru"
	golanglru "github.com/hashicorp/golang-lru/v2"
	"github.com/larder-data/larder/cache"
	"github.com/maypok86/otter/v2"
)

// bound is the memory bound of the caches, in bytes of values.
const bound = 64 << 20

// memory fills a cache with twice its bound and measures the memory of the process. Each
// value has its own bytes.
func memory(_ context.Context, j Job) (Figures, error) {
	var put func(k int, v []byte)
	var has func(k int) bool
	wait := func() {}
	var hold any // prevents collection before measuring
	switch j.Contestant {
	case "otter":
		c, err := otter.New(&otter.Options[int, []byte]{MaximumWeight: bound, Weigher: func(_ int, v []byte) uint32 { return uint32(len(v)) }})
		if err != nil {
			return nil, err
		}
		put, has, wait, hold = func(k int, v []byte) { c.Set(k, v) }, func(k int) bool { _, ok := c.GetIfPresent(k); return ok }, c.CleanUp, c
	case "ristretto":
		c, err := ristretto.NewCache(&ristretto.Config[int, []byte]{NumCounters: int64(10 * bound / j.Bytes), MaxCost: bound, BufferItems: 64, IgnoreInternalCost: true})
		if err != nil {
			return nil, err
		}
		put, has, wait, hold = func(k int, v []byte) { c.Set(k, v, int64(len(v))) }, func(k int) bool { _, ok := c.Get(k); return ok }, c.Wait, c
	case "golang-lru, bounded in entries":
		c, err := golanglru.New[int, []byte](bound / j.Bytes)
		if err != nil {
			return nil, err
		}
		put, has, hold = func(k int, v []byte) { c.Add(k, v) }, func(k int) bool { return c.Contains(k) }, c
	case "groupcache/lru, bounded in entries":
		c := lru.New(bound / j.Bytes)
		put, has, hold = func(k int, v []byte) { c.Add(k, v) }, func(k int) bool { _, ok := c.Get(k); return ok }, c
	case "Larder lru", "Larder w-tinylfu", "Larder sieve":
		c, err := cache.New[int, []byte](cache.Options{Policy: j.Contestant[len("Larder "):], Bytes: bound})
		if err != nil {
			return nil, err
		}
		put, has, hold = func(k int, v []byte) { c.Put(k, v, int64(len(v)), 0) }, func(k int) bool { _, ok := c.Get(k); return ok }, c
	default:
		return nil, errUnknown
	}
	ready()
	n := 2 * bound / j.Bytes
	for k := range n {
		v := make([]byte, j.Bytes)
		v[0] = byte(k)
		put(k, v)
	}
	wait()
	anon, _ := rss()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	held := 0
	for k := range n {
		if has(k) {
			held++
		}
	}
	runtime.KeepAlive(hold)
	overhead := (float64(m.HeapAlloc) - float64(held*j.Bytes)) / float64(max(held, 1))
	return Figures{"heap": float64(m.HeapAlloc), "rss": anon, "held": float64(held), "overhead": overhead}, nil
}
