package indexed

import (
	"context"
	"sync"

	"github.com/larder-data/larder/dataset"
)

// Held holds the most recently read parts of files: raw pieces, and decompressed
// buffers.
type Held struct {
	mu    sync.Mutex
	of    map[part]*held
	clock uint64
	bytes int
}

// heldBytes bounds the parts held.
const heldBytes = 64 << 20

// A part is the position of a piece of a file or of a compressed buffer.
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

// NewHeld returns an empty Held.
func NewHeld() *Held { return &Held{of: map[part]*held{}} }

// pieceBytes is the smallest read from a file.
const pieceBytes = 256 << 10

// Read returns n bytes of a file at an offset, which must not be changed. For few bytes
// it holds the surrounding piece. ext is the extension for which memory is counted.
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

// Unpacked returns the decompressed data of the part of a file at an offset.
func (h *Held) Unpacked(ctx context.Context, in *File, at int64, unpack func(context.Context) ([]byte, error)) ([]byte, error) {
	return h.get(ctx, part{in, at, true}, unpack)
}

// get returns a part, and reads it if necessary.
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

// shrink drops the parts unused for longest, except now.
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
