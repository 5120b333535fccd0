package dataset

import (
	"sync"
	"time"

	"github.com/larder-data/larder"
)

// A way is where a returned sample came from.
type way int

const (
	computed way = iota
	fromMemory
	fromStore
	ways
)

// handed records which samples of one place were returned and from where, so that each
// counts once however often it is read. It takes less than half a byte for a sample. It
// may be used by many goroutines.
type handed struct {
	mu     sync.Mutex
	blocks map[int]*[ways][blockWords]uint64
}

// blockWords is how many words of 64 samples are allocated together: few, as reads may
// be sparse over very many samples.
const blockWords = 8

// first records a sample, and reports whether it is the first time from w, and the first
// time at all.
func (h *handed) first(i int, w way) (thatWay, atAll bool) {
	word, bit := i/64, uint64(1)<<(i%64)
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.blocks[word/blockWords]
	if b == nil {
		if h.blocks == nil {
			h.blocks = map[int]*[ways][blockWords]uint64{}
		}
		b = new([ways][blockWords]uint64)
		h.blocks[word/blockWords] = b
	}
	word %= blockWords
	thatWay = b[w][word]&bit == 0
	atAll = (b[computed][word]|b[fromMemory][word]|b[fromStore][word])&bit == 0
	b[w][word] |= bit
	return thatWay, atAll
}

// at returns the record of samples returned by a place: the node itself or one of its
// outputs.
func (t *NodeStats) at(place string) *handed {
	h, _ := t.places.LoadOrStore(place, new(handed))
	return h.(*handed)
}

// hand counts a returned sample. An execution is counted by its runner.
func (t *NodeStats) hand(h *handed, i int, w way) {
	thatWay, atAll := h.first(i, w)
	if atAll {
		t.handed.Add(1)
	}
	switch {
	case w == fromMemory && thatWay:
		t.FromMemory.Add(1)
	case w == fromMemory:
		t.againFromMemory.Add(1)
	case w == fromStore && thatWay:
		t.FromStore.Add(1)
	case w == fromStore:
		t.againFromStore.Add(1)
	}
}

// countCall counts the sample at i, which a call of the larder returned.
func (t *NodeStats) countCall(h *handed, i int, from larder.From, bytes int64, cost time.Duration) {
	switch {
	case from == larder.Computed:
		t.BytesWritten.Add(bytes)
	case t.Settled.Load():
	case t.isAhead():
		t.hand(h, i, computed)
	case from == larder.FromMemory:
		t.hand(h, i, fromMemory)
		t.saved.Add(int64(cost))
	case from == larder.FromStore:
		t.hand(h, i, fromStore)
		t.BytesRead.Add(bytes)
		t.saved.Add(int64(cost))
	}
}

// MemoryReads returns how often samples were returned from memory; FromMemory counts
// each once.
func (t *NodeStats) MemoryReads() int64 { return t.FromMemory.Load() + t.againFromMemory.Load() }

// StoreReads returns how often samples were returned from the store; FromStore counts
// each once.
func (t *NodeStats) StoreReads() int64 { return t.FromStore.Load() + t.againFromStore.Load() }

// Stand counts samples that need not be read because their output is reused.
func (t *NodeStats) Stand(samples int64) {
	t.FromStore.Add(samples)
	t.handed.Add(samples)
}

// Handed returns how many samples were returned or written, each counted once. The
// counts of a component are already of distinct samples.
func (t *NodeStats) Handed() int64 {
	if n := t.handed.Load(); n > 0 {
		return n
	}
	return t.Computed.Load() + t.FromMemory.Load() + t.FromStore.Load()
}
