package pool

import (
	"context"
	"slices"
	"sync"
)

// A room is a bound on the bytes that are in use at once.
type room struct {
	limit int64

	mu      sync.Mutex
	used    int64
	working int        // shares that have bytes and wait for nothing
	waiting []*request // in the order in which they asked
}

// A share is the bytes of one computation. The lock of its room guards it.
type share struct {
	room  *room
	bytes int64
	waits int // of its goroutines, those that wait
}

// A request is one of a share that waits.
type request struct {
	share   *share
	bytes   int64
	granted chan struct{} // closed when it is
}

func newRoom(limit int64) *room { return &room{limit: limit} }

// inUse is how many bytes are in use.
func (r *room) inUse() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.used
}

// take waits until a share may have so many bytes more.
func (r *room) take(ctx context.Context, s *share, bytes int64) error {
	q := &request{s, min(bytes, mostBytes), make(chan struct{})}
	r.ask(q)
	select {
	case <-q.granted:
		return nil
	case <-ctx.Done():
	}
	if r.giveUp(q) {
		return context.Cause(ctx)
	}
	return nil // it was granted meanwhile
}

func (r *room) ask(q *request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = append(r.waiting, q)
	r.change(q.share, 0, 1)
}

// giveUp takes a request back, unless it was granted.
func (r *room) giveUp(q *request) bool {
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

// end gives back what a share has.
func (s *share) end() {
	s.room.mu.Lock()
	defer s.room.mu.Unlock()
	s.room.change(s, -s.bytes, 0)
}

func (s *share) wait(by int) {
	s.room.mu.Lock()
	defer s.room.mu.Unlock()
	s.room.change(s, 0, by)
}

// change changes what a share has and for how much it waits, and lets in who may go on
// for that. The lock is held.
func (r *room) change(s *share, bytes int64, waits int) {
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

func (r *room) count(s *share, bytes int64, waits int) {
	if s.works() {
		r.working--
	}
	s.bytes, s.waits, r.used = s.bytes+bytes, s.waits+waits, r.used+bytes
	if s.works() {
		r.working++
	}
}

// works reports whether a share will give back its bytes if it is left alone.
func (s *share) works() bool { return s.bytes > 0 && s.waits == 0 }

// next returns which request may be granted now, or -1. Of those whose shares have
// bytes it is the first that fits. As long as there are others of these, newcomers
// wait; then they come one after another. If nobody works it is the first in that
// order, fit or not.
func (r *room) next() int {
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

func (r *room) fits(q *request) bool { return r.used+q.bytes <= r.limit }
