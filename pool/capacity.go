package pool

import (
	"context"
	"slices"
	"sync"
)

// A capacity bounds the bytes in use.
type capacity struct {
	limit int64

	mu      sync.Mutex
	used    int64
	working int        // shares that have bytes and do not wait
	waiting []*request // in the order of their arrival
}

// A share is the bytes of one computation. The lock of its capacity guards it.
type share struct {
	capacity *capacity
	bytes    int64
	waits    int // number of its goroutines that wait
}

// A request is a waiting request of a share.
type request struct {
	share   *share
	bytes   int64
	granted chan struct{} // closed when it is granted
}

func newCapacity(limit int64) *capacity { return &capacity{limit: limit} }

func (r *capacity) inUse() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.used
}

// take waits until a share may have more bytes.
func (r *capacity) take(ctx context.Context, s *share, bytes int64) error {
	q := &request{s, min(bytes, maxBytes), make(chan struct{})}
	r.ask(q)
	select {
	case <-q.granted:
		return nil
	case <-ctx.Done():
	}
	if r.giveUp(q) {
		return context.Cause(ctx)
	}
	return nil // granted in the meantime
}

func (r *capacity) ask(q *request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = append(r.waiting, q)
	r.change(q.share, 0, 1)
}

// giveUp removes a request unless it was granted.
func (r *capacity) giveUp(q *request) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.Index(r.waiting, q)
	if at < 0 {
		return false
	}
	r.waiting = slices.Delete(r.waiting, at, at+1)
	r.change(q.share, 0, -1)
	return true
}

func (s *share) end() {
	s.capacity.mu.Lock()
	defer s.capacity.mu.Unlock()
	s.capacity.change(s, -s.bytes, 0)
}

func (s *share) wait(by int) {
	s.capacity.mu.Lock()
	defer s.capacity.mu.Unlock()
	s.capacity.change(s, 0, by)
}

// change changes the bytes and waits of a share, and grants the requests that are now
// possible. The caller holds the lock.
func (r *capacity) change(s *share, bytes int64, waits int) {
	r.count(s, bytes, waits)
	for {
		at := r.next()
		if at < 0 {
			return
		}
		q := r.waiting[at]
		r.waiting = slices.Delete(r.waiting, at, at+1)
		r.count(q.share, q.bytes, -1)
		close(q.granted)
	}
}

func (r *capacity) count(s *share, bytes int64, waits int) {
	if s.works() {
		r.working--
	}
	s.bytes, s.waits, r.used = s.bytes+bytes, s.waits+waits, r.used+bytes
	if s.works() {
		r.working++
	}
}

// works reports whether a share will release its bytes without further help.
func (s *share) works() bool { return s.bytes > 0 && s.waits == 0 }

// next returns the index of the request that may be granted now, or -1. It prefers
// requests of shares that have bytes, the first that fits. Other requests wait until
// there are none of these. If no share works, next returns the first request in that
// order even if it does not fit.
func (r *capacity) next() int {
	first := -1
	for i, q := range r.waiting {
		if q.share.bytes == 0 {
			continue
		}
		if r.fits(q) {
			return i
		}
		if first < 0 {
			first = i
		}
	}
	if first < 0 && len(r.waiting) > 0 {
		first = 0
	}
	if first >= 0 && r.working > 0 && !r.fits(r.waiting[first]) {
		return -1
	}
	return first
}

func (r *capacity) fits(q *request) bool { return r.used+q.bytes <= r.limit }
