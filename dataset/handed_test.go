package dataset

import (
	"math/rand/v2"
	"sync"
	"testing"
)

// TestHandedOnce checks that a sample counts once per kind of read and once in total,
// however often it is read. Two outputs count separately.
func TestHandedOnce(t *testing.T) {
	const n, passes = 2000, 3
	var stats NodeStats
	outputs := []*handed{stats.at("node.a"), stats.at("node.b")}
	if stats.at("node.a") != outputs[0] {
		t.Fatal("an output has two records")
	}
	var all sync.WaitGroup
	for range passes {
		for _, h := range outputs {
			all.Go(func() {
				for _, i := range rand.Perm(n) {
					stats.hand(h, i, computed)
					stats.hand(h, i, fromMemory)
					if i%2 == 0 {
						stats.hand(h, i, fromStore)
					}
				}
			})
		}
	}
	all.Wait()
	if m, s := stats.FromMemory.Load(), stats.FromStore.Load(); m != 2*n || s != n {
		t.Errorf("%d samples from memory and %d from the store, want %d and %d", m, s, 2*n, n)
	}
	if m, s := stats.MemoryReads(), stats.StoreReads(); m != 2*n*passes || s != n*passes {
		t.Errorf("%d reads from memory and %d from the store, want %d and %d", m, s, 2*n*passes, n*passes)
	}
	if stats.Handed() != 2*n || stats.Computed.Load() != 0 {
		t.Errorf("%d samples returned and %d computed, want %d and, as nothing was run, none", stats.Handed(), stats.Computed.Load(), 2*n)
	}
}

// TestHandedOfVeryMany checks that the counters take memory only for samples that are read.
func TestHandedOfVeryMany(t *testing.T) {
	var stats NodeStats
	h := stats.at("")
	for i := range 1000 {
		stats.hand(h, i*1_000_000_000, fromMemory)
	}
	if len(h.blocks) != 1000 || stats.FromMemory.Load() != 1000 {
		t.Errorf("%d blocks for %d samples", len(h.blocks), stats.FromMemory.Load())
	}
}

// TestStandingIsHanded checks that reused samples count, and those that a component counts
// itself.
func TestStandingIsHanded(t *testing.T) {
	var stats NodeStats
	stats.Computed.Add(3)
	stats.FromStore.Add(4)
	if stats.Handed() != 7 {
		t.Errorf("%d, want what the component counted, 7", stats.Handed())
	}
	stats.Stand(5)
	if stats.Handed() != 5 || stats.FromStore.Load() != 9 || stats.StoreReads() != 9 {
		t.Errorf("%d returned, %d samples and %d reads from the store", stats.Handed(), stats.FromStore.Load(), stats.StoreReads())
	}
}
