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
	var tally Tally
	outputs := []*handed{tally.at("node.a"), tally.at("node.b")}
	if tally.at("node.a") != outputs[0] {
		t.Fatal("an output has two records")
	}
	var all sync.WaitGroup
	for range passes {
		for _, h := range outputs {
			all.Go(func() {
				for _, i := range rand.Perm(n) {
					tally.hand(h, i, computed)
					tally.hand(h, i, fromMemory)
					if i%2 == 0 {
						tally.hand(h, i, fromStore)
					}
				}
			})
		}
	}
	all.Wait()
	if m, s := tally.FromMemory.Load(), tally.FromStore.Load(); m != 2*n || s != n {
		t.Errorf("%d samples from memory and %d from the store, want %d and %d", m, s, 2*n, n)
	}
	if m, s := tally.MemoryReads(), tally.StoreReads(); m != 2*n*passes || s != n*passes {
		t.Errorf("%d reads from memory and %d from the store, want %d and %d", m, s, 2*n*passes, n*passes)
	}
	if tally.Handed() != 2*n || tally.Computed.Load() != 0 {
		t.Errorf("%d samples handed out and %d computed, want %d and, as nothing was run, none", tally.Handed(), tally.Computed.Load(), 2*n)
	}
}

// TestHandedOfVeryMany checks that the counters take memory only for samples that are read.
func TestHandedOfVeryMany(t *testing.T) {
	var tally Tally
	h := tally.at("")
	for i := range 1000 {
		tally.hand(h, i*1_000_000_000, fromMemory)
	}
	if len(h.blocks) != 1000 || tally.FromMemory.Load() != 1000 {
		t.Errorf("%d blocks for %d samples", len(h.blocks), tally.FromMemory.Load())
	}
}

// TestStandingIsHanded checks that reused samples count, and those that a component counts
// itself.
func TestStandingIsHanded(t *testing.T) {
	var tally Tally
	tally.Computed.Add(3)
	tally.FromStore.Add(4)
	if tally.Handed() != 7 {
		t.Errorf("%d, want what the component counted, 7", tally.Handed())
	}
	tally.Stand(5)
	if tally.Handed() != 5 || tally.FromStore.Load() != 9 || tally.StoreReads() != 9 {
		t.Errorf("%d handed out, %d samples and %d reads from the store", tally.Handed(), tally.FromStore.Load(), tally.StoreReads())
	}
}
