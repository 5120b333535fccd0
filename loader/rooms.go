package loader

import (
	"context"
	"math/bits"
	"sync"
	"unsafe"
)

// Rooms gives the memory that batches are written into. Its methods may be called by
// many goroutines. One reader takes room for one batch at a time, in the order of its
// batches.
type Rooms interface {
	// Take returns so many bytes, with whatever in them, that begin at a multiple of 64
	// in memory. It may wait for some that is given back, but not beyond the end of ctx.
	Take(ctx context.Context, bytes int64) ([]byte, error)
	// Give takes back what Take returned: of a batch that was released, or that could
	// not be made.
	Give(b []byte)
}

// Rooms returns the memory of Go that batches are written into where nothing else is
// said.
func (l *Loader) Rooms() Rooms { return &l.heap }

// heapRooms is memory of Go, used again by its size.
type heapRooms struct{ sizes [48]sync.Pool } // of *byte

// Take implements Rooms.
func (h *heapRooms) Take(_ context.Context, n int64) ([]byte, error) {
	class := bits.Len64(uint64(max(n, 4096) - 1))
	if class >= len(h.sizes) {
		return aligned(n), nil
	}
	if first, ok := h.sizes[class].Get().(*byte); ok {
		return unsafe.Slice(first, int64(1)<<class)[:n], nil
	}
	return aligned(int64(1) << class)[:n], nil
}

// Give implements Rooms.
func (h *heapRooms) Give(b []byte) {
	b = b[:cap(b)]
	class := bits.Len(uint(len(b))) - 1
	if class < len(h.sizes) && class >= 0 && len(b) == 1<<class {
		h.sizes[class].Put(&b[0])
	}
}

// aligned is new memory that begins at a multiple of 64.
func aligned(n int64) []byte {
	b := make([]byte, n+alignment)
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(b))) % alignment
	return b[skip:][:n:n]
}
