package ipc

import (
	"context"
	"sync"

	"github.com/larder-data/larder/dataset"
)

// Held is what was read of files last: pieces as they lie there, and buffers that were unpacked.
type Held struct {
	mu    sync.Mutex
	of    map[part]*held
	clock uint64
	bytes int
}

// heldBytes bounds what is held.
const heldBytes = 64 << 20

// A part is a piece of a file, or an unpacked buffer, by where it begins.
type part struct {
	in       *File
	at       int64
	unpacked bool
}

type held struct {
	dataset.Once[[]byte]
	used  uint64
	bytes int
}

// NewHeld returns one that holds nothing.
func NewHeld() *Held { return &Held{of: map[part]*held{}} }

// get returns a part, or has it read.
func (h *Held) get(ctx context.Context, p part, read func(context.Context) ([]byte, error)) ([]byte, error) {
	h.mu.Lock()
	at := h.of[p]
	if at == nil {
		at = &held{}
		h.of[p] = at
	}
	h.clock++
	at.used = h.clock
	h.mu.Unlock()
	b, err := at.Get(ctx, read)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.of[p] != at {
		return b, err
	}
	if err != nil {
		delete(h.of, p)
		return nil, err
	}
	if at.bytes == 0 {
		at.bytes = len(b) + 1
		h.bytes += at.bytes
		h.shrink(at)
	}
	return b, nil
}

// shrink drops what was not used for longest, but not what was read now.
func (h *Held) shrink(now *held) {
	for h.bytes > heldBytes {
		var oldest *held
		var where part
		for p, at := range h.of {
			if at.bytes > 0 && at != now && (oldest == nil || at.used < oldest.used) {
				oldest, where = at, p
			}
		}
		if oldest == nil {
			return
		}
		h.bytes -= oldest.bytes
		delete(h.of, where)
	}
}
