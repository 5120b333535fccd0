package indexed

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

// pieceBytes is how much of a file is read at once, where less was asked for.
const pieceBytes = 256 << 10

// Read returns n bytes of a file at a place, which must not be changed: of few bytes the piece is
// held that they lie in. ext is what they are counted as.
func (h *Held) Read(ctx context.Context, in *File, ext string, at, n int64) ([]byte, error) {
	direct := func(ctx context.Context, at, n int64) ([]byte, error) {
		return dataset.ReadBytes(ctx, ext, n, func(to []byte) error { return in.Read(ctx, to, at) })
	}
	piece := at / pieceBytes * pieceBytes
	if n > pieceBytes/4 || at+n > piece+pieceBytes || at+n > in.size {
		return direct(ctx, at, n)
	}
	all, err := h.get(ctx, part{in, piece, false}, func(ctx context.Context) ([]byte, error) {
		return direct(ctx, piece, min(pieceBytes, in.size-piece))
	})
	if err != nil {
		return nil, err
	}
	return all[at-piece:][:n], nil
}

// Unpacked returns what a part of a file that begins at a place unpacks to.
func (h *Held) Unpacked(ctx context.Context, in *File, at int64, unpack func(context.Context) ([]byte, error)) ([]byte, error) {
	return h.get(ctx, part{in, at, true}, unpack)
}

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
