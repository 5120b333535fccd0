package loader

import (
	"context"
	"math/bits"
	"sync"
	"unsafe"
)

// Allocator allocates the memory of batches. It must be safe for concurrent use.
// One reader allocates for one batch at a time, in the order of its batches.
type Allocator interface {
	// Allocate returns this many bytes with arbitrary content, aligned to 64 in
	// memory. It may wait until memory is freed, but not beyond the end of ctx.
	Allocate(ctx context.Context, bytes int64) ([]byte, error)
	// Free frees memory from Allocate, when a batch was released or could not be
	// built.
	Free(b []byte)
}

// Allocator returns the default allocator, which uses memory of Go.
func (l *Loader) Allocator() Allocator { return &l.heap }

// heapAllocator reuses memory of Go by its size.
type heapAllocator struct{ sizes [48]sync.Pool } // of *byte

// Allocate implements Allocator.
func (h *heapAllocator) Allocate(_ context.Context, n int64) ([]byte, error) {
	class := bits.Len64(uint64(max(n, 4096) - 1))
	if class >= len(h.sizes) {
		return aligned(n), nil
	}
	if first, ok := h.sizes[class].Get().(*byte); ok {
		return unsafe.Slice(first, int64(1)<<class)[:n], nil
	}
	return aligned(int64(1) << class)[:n], nil
}

// Free implements Allocator.
func (h *heapAllocator) Free(b []byte) {
	b = b[:cap(b)]
	class := bits.Len(uint(len(b))) - 1
	if class < len(h.sizes) && class >= 0 && len(b) == 1<<class {
		h.sizes[class].Put(&b[0])
	}
}

// aligned allocates memory aligned to 64.
func aligned(n int64) []byte {
	b := make([]byte, n+alignment)
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(b))) % alignment
	return b[skip:][:n:n]
}
