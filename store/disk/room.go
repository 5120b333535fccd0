package disk

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// room keeps the folder below its limit.
type room struct {
	held    atomic.Int64 // estimate of the bytes in the folder
	trigger atomic.Int64 // beyond this, some are evicted

	mu      sync.Mutex
	wanted  chan struct{} // wakes housekeep; holds one
	pending chan struct{} // closed when the eviction that is due is done
}

// lockPatience is how long a background eviction waits for another process
// that evicts already.
const lockPatience = time.Second

// flushEvery is how often uses of old records are written down.
const flushEvery = 5 * time.Minute

// housekeep runs until Close. It evicts when there is too much, merges indexes
// when there are enough, and writes down uses of old records now and then.
func (s *Store) housekeep() {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.life.Done():
			s.room.done()
			return
		case <-tick.C:
			s.flushTouches()
		case <-s.index.merge:
			s.mergeIndexes(s.life)
		case <-s.room.wanted:
			s.evict()
			s.room.done()
		}
	}
}

// evict makes a tenth of the limit free.
func (s *Store) evict() {
	target := s.limit - s.limit/10
	_, err := s.collect(s.life, target, lockPatience)
	switch {
	case err == nil, s.life.Err() != nil:
	case errors.Is(err, errLocked): // another process is at it
		s.room.held.Store(target)
	default:
		s.log.Warn("store: cannot evict old records", "dir", s.dir, "error", err)
	}
	// What is pinned or being written stays: do not try again for each Put.
	s.room.trigger.Store(max(s.limit, s.room.held.Load()+s.limit/16))
}

// makeRoom counts grown bytes and has records evicted if there are too many.
// It waits for that only where Puts are faster than eviction.
func (s *Store) makeRoom(ctx context.Context, grown int64) {
	held := s.room.held.Add(grown)
	trigger := s.room.trigger.Load()
	if s.limit == 0 || held <= trigger {
		return
	}
	pending := s.room.want()
	if held <= trigger+s.limit/16 {
		return
	}
	select {
	case <-pending:
	case <-ctx.Done(): // the record is kept all the same
	case <-s.life.Done():
	}
}

// closePatience is how long Close waits for an eviction that is due.
const closePatience = 30 * time.Second

// finishEviction waits for the eviction that is due, if one is: many short runs
// must not leave more behind each time.
func (s *Store) finishEviction() {
	if s.limit == 0 || s.readOnly || s.closed.Load() {
		return
	}
	patience := time.NewTimer(closePatience)
	defer patience.Stop()
	for s.room.held.Load() > s.room.trigger.Load() { // more may have come during the last one
		select {
		case <-s.room.want():
		case <-s.life.Done():
			return
		case <-patience.C:
			return
		}
	}
}

// want asks for an eviction, and returns what is closed when it is done.
func (r *room) want() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pending == nil {
		r.pending = make(chan struct{})
		r.wanted <- struct{}{} // there is room for the one that is due
	}
	return r.pending
}

func (r *room) done() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pending != nil {
		close(r.pending)
		r.pending = nil
	}
}
