package server

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/larder-data/larder/internal/sharedmem"
)

// pageBytes is what the parts of a ring are multiples of.
const pageBytes = 4096

// A ring is the memory that the batches of a connection's readers are written into,
// shared with its client. It implements [loader.Rooms]: what was taken is nobody else's until it is
// given back. It grows as far as is needed, and no further than its bound: most bytes,
// or four times the largest batch, beside what its client keeps. What lies beyond a bound that
// has become less is given back to the system when it is free.
type ring struct {
	memory *sharedmem.Memory

	mu     sync.Mutex
	most   func() int64
	need   int64  // of the largest batch
	kept   int64  // bytes that the client keeps, and that do not count
	size   int64  // that it has by now
	file   int64  // that its file has, which never becomes smaller
	free   []span // by place; no two touch
	given  chan struct{}
	closed bool
}

// A span is a part of a ring.
type span struct{ from, to int64 }

func newRing() (*ring, error) {
	m, err := sharedmem.New()
	if err != nil {
		return nil, err
	}
	return &ring{memory: m, most: func() int64 { return pageBytes }, given: make(chan struct{})}, nil
}

// bound says how many bytes it has where no batch is large.
func (r *ring) bound(most func() int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.most = most
}

// limit is how many bytes it may have now. The lock is held.
func (r *ring) limit() int64 {
	return min(max(r.most(), pageBytes, 4*r.need)+r.kept, r.memory.Most())
}

// A memoryError says that a ring cannot be as large as it is needed.
type memoryError struct{ err error }

func (e *memoryError) Error() string { return e.err.Error() }
func (e *memoryError) Unwrap() error { return e.err }

// Take implements loader.Rooms.
func (r *ring) Take(ctx context.Context, bytes int64) ([]byte, error) {
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

// try takes the first part that is large enough, at the end of the ring if there is no
// other. While there is none it returns what is closed when something is given back.
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
		return 0, nil, &memoryError{fmt.Errorf("the memory for batches cannot be %d bytes large: %w; take smaller batches or fewer at once (window)", at+need, err)}
	}
	if at < r.size {
		r.free = r.free[:len(r.free)-1]
	}
	r.size = at + need
	r.file = max(r.file, r.size)
	return at, nil, nil
}

// Give implements loader.Rooms.
func (r *ring) Give(b []byte) {
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

// shrink gives the system what is free at the end, beyond the bound. The lock is held.
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

// wake has those look again who wait for room. The lock is held.
func (r *ring) wake() {
	close(r.given)
	r.given = make(chan struct{})
}

// keep notes that the client keeps so many bytes more.
func (r *ring) keep(bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept += bytes
	r.wake()
}

// at is where in the ring something lies that was taken of it.
func (r *ring) at(b []byte) int64 {
	return int64(uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(r.memory.Bytes))))
}

// bytes is how large its file is.
func (r *ring) bytes() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.file
}

// takes is how much memory it takes.
func (r *ring) takes() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.size
}

// close lets go of the memory, which nobody may write into any more. What clients have
// mapped of it stays theirs.
func (r *ring) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.closed = true
		r.memory.Close()
	}
}
