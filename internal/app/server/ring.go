package server

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/larder-data/larder/internal/proc/process"
)

// pageBytes is the alignment of the parts of a ring.
const pageBytes = 4096

// A ring is the memory for the batches of a connection's readers, shared with its
// client. It implements [loader.Allocator], so an allocated part is exclusive until it
// is freed. The ring grows on demand up to its bound: most bytes, or four times the
// largest batch, plus what its client retains. If the bound shrinks, memory beyond
// it is returned to the system when it is free.
type ring struct {
	memory *process.SharedMemory

	mu     sync.Mutex
	most   func() int64
	need   int64  // size of the largest batch
	stored int64  // bytes that the client retains, which do not count
	size   int64  // current size
	file   int64  // size of the file, which never shrinks
	free   []span // sorted, not adjacent
	given  chan struct{}
	closed bool
}

// A span is a part of a ring.
type span struct{ from, to int64 }

func newRing() (*ring, error) {
	m, err := process.NewSharedMemory()
	if err != nil {
		return nil, err
	}
	return &ring{memory: m, most: func() int64 { return pageBytes }, given: make(chan struct{})}, nil
}

// bound sets the bound for small batches.
func (r *ring) bound(most func() int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.most = most
}

// limit returns the current bound. The caller must hold the lock.
func (r *ring) limit() int64 {
	return min(max(r.most(), pageBytes, 4*r.need)+r.stored, r.memory.Most())
}

// A memoryError says that a ring cannot grow to the required size.
type memoryError struct{ err error }

func (e *memoryError) Error() string { return e.err.Error() }
func (e *memoryError) Unwrap() error { return e.err }

// Allocate implements loader.Allocator.
func (r *ring) Allocate(ctx context.Context, bytes int64) ([]byte, error) {
	need := (max(bytes, 1) + pageBytes - 1) / pageBytes * pageBytes
	if need > r.memory.Most() {
		return nil, &memoryError{fmt.Errorf("a batch of %d bytes is larger than the %d that a ring can have; take smaller batches", bytes, r.memory.Most())}
	}
	for {
		at, wait, err := r.try(need)
		if err != nil {
			return nil, err
		}
		if wait == nil {
			return r.memory.Bytes[at : at+bytes : at+need], nil
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// try allocates the first part that is large enough, or extends the ring. If
// neither is possible, it returns a channel that is closed when memory is freed.
func (r *ring) try(need int64) (at int64, wait <-chan struct{}, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.need = max(r.need, need)
	for i, s := range r.free {
		if s.to-s.from >= need {
			if r.free[i].from += need; r.free[i].from == s.to {
				r.free = slices.Delete(r.free, i, i+1)
			}
			return s.from, nil, nil
		}
	}
	at = r.size
	if n := len(r.free); n > 0 && r.free[n-1].to == r.size {
		at = r.free[n-1].from
	}
	if at+need > r.limit() {
		return 0, r.given, nil
	}
	if err := r.memory.Grow(r.size, at+need); err != nil {
		return 0, nil, &memoryError{fmt.Errorf("the memory for batches cannot be %d bytes large: %w; use smaller batches, or a smaller window", at+need, err)}
	}
	if at < r.size {
		r.free = r.free[:len(r.free)-1]
	}
	r.size = at + need
	r.file = max(r.file, r.size)
	return at, nil, nil
}

// Free implements loader.Allocator.
func (r *ring) Free(b []byte) {
	at := r.at(b)
	s := span{at, at + int64(cap(b))}
	r.mu.Lock()
	defer r.mu.Unlock()
	i, _ := slices.BinarySearchFunc(r.free, s.from, func(f span, at int64) int { return int(f.from - at) })
	if i < len(r.free) && r.free[i].from == s.to {
		s.to = r.free[i].to
		r.free = slices.Delete(r.free, i, i+1)
	}
	if i > 0 && r.free[i-1].to == s.from {
		s.from = r.free[i-1].from
		i--
		r.free = slices.Delete(r.free, i, i+1)
	}
	r.free = slices.Insert(r.free, i, s)
	r.shrink()
	r.wake()
}

// shrink returns free memory at the end beyond the bound to the system. The caller
// must hold the lock.
func (r *ring) shrink() {
	n := len(r.free) - 1
	bound := r.limit() / pageBytes * pageBytes
	if r.closed || n < 0 || r.free[n].to != r.size || r.size <= bound {
		return
	}
	to := max(r.free[n].from, bound)
	r.memory.Shrink(to, r.size)
	r.size = to
	if r.free[n].to = to; r.free[n].from == to {
		r.free = r.free[:n]
	}
}

// wake wakes goroutines that wait for memory. The caller must hold the lock.
func (r *ring) wake() {
	close(r.given)
	r.given = make(chan struct{})
}

// keep adds to the number of retained bytes.
func (r *ring) keep(bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stored += bytes
	r.wake()
}

// at returns the position of allocated memory in the ring.
func (r *ring) at(b []byte) int64 {
	return int64(uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(r.memory.Bytes))))
}

// bytes returns the size of its file.
func (r *ring) bytes() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.file
}

// takes returns how much memory it uses.
func (r *ring) takes() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.size
}

// close releases the memory, which must not be written afterwards. Clients retain
// their mappings.
func (r *ring) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.closed = true
		r.memory.Close()
	}
}
