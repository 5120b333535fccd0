package dataset

import "sync"

// A way is how a sample came to be handed out.
type way int

const (
	computed way = iota
	fromMemory
	fromStore
	ways
)

// handed notes which samples of one place were handed out in which ways, so that each
// counts once however often it is read. It takes less than half a byte for a sample.
// It may be used by many goroutines.
type handed struct {
	mu     sync.Mutex
	blocks map[int]*[ways][blockWords]uint64
}

// blockWords is how many words, of 64 samples each, are taken at once: few, as of
// very many samples some here and there may be read.
const blockWords = 8

// first notes a sample, and reports whether it is handed out for the first time that
// way, and for the first time at all.
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

// at is what a place of the node, the node itself or one of its outputs, has handed
// out.
func (t *Tally) at(place string) *handed {
	h, _ := t.places.LoadOrStore(place, new(handed))
	return h.(*handed)
}

// hand counts a sample that was handed out. An execution is counted by who ran it.
func (t *Tally) hand(h *handed, i int, w way) {
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

// MemoryReads is how often samples were handed out of memory; FromMemory is how many.
func (t *Tally) MemoryReads() int64 { return t.FromMemory.Load() + t.againFromMemory.Load() }

// StoreReads is how often samples were handed out of the store; FromStore is how many.
func (t *Tally) StoreReads() int64 { return t.FromStore.Load() + t.againFromStore.Load() }

// Stand counts samples that nobody has to look at, as what was made of them stands.
func (t *Tally) Stand(samples int64) {
	t.FromStore.Add(samples)
	t.handed.Add(samples)
}

// Handed is how many samples were handed out or written, each once. What a component
// counts by itself, it has told samples apart for.
func (t *Tally) Handed() int64 {
	if n := t.handed.Load(); n > 0 {
		return n
	}
	return t.Computed.Load() + t.FromMemory.Load() + t.FromStore.Load()
}
