package disk

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/larder-data/larder/store/disk/internal/medium"
)

// room keeps the folder below its limit.
type room struct {
	held atomic.Int64 // estimate of the bytes in the folder, and of files that were removed and are mapped
	left atomic.Int64 // what the last eviction had to leave

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
			s.evict(s.life, lockPatience)
			s.room.done()
		}
	}
}

// evict makes a tenth of the limit free, or half of that where the rest lies between
// records that stay: moving those keeps Puts waiting. It waits with patience for another
// process that evicts.
func (s *Store) evict(ctx context.Context, patience time.Duration) {
	_, left, err := s.collect(ctx, s.limit-s.limit/10, s.limit/20, patience)
	switch {
	case err == nil:
	case errors.Is(err, medium.ErrLocked): // another process is at it: see how far it is
		_, _ = s.look() // an estimate serves as well
		return
	case ctx.Err() != nil: // Close does it, if it is not out of patience
		return
	default:
		s.files.Log.Warn("store: cannot evict old records", "dir", s.files.Dir, "error", err)
		left = s.room.held.Load() // try again when there is more
	}
	s.room.left.Store(left)
}

// look counts what is held.
func (s *Store) look() (bytes int64, err error) {
	counted := s.room.held.Load() // before the look, so that no Put is missed
	bytes, err = s.measure()
	bytes += s.mapped.Removed()
	if err == nil {
		s.room.held.Add(bytes - counted)
	}
	return bytes, err
}

// trigger is beyond how many bytes some are evicted. What is pinned or being
// written stays: that is not tried again for each Put.
func (s *Store) trigger() int64 { return max(s.limit, s.room.left.Load()+s.limit/16) }

// makeRoom counts grown bytes and has records evicted if there are too many.
// It waits for that only where Puts are faster than eviction.
func (s *Store) makeRoom(ctx context.Context, grown int64) {
	held := s.room.held.Add(grown)
	trigger := s.trigger()
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

// closePatience is for how long Close evicts, or waits for another process that
// does.
const closePatience = 30 * time.Second

// finishEviction evicts what is too much when nobody puts any more: many short
// runs must not leave more behind each time.
func (s *Store) finishEviction() {
	if s.limit == 0 || s.files.ReadOnly || s.room.held.Load() <= max(s.limit, s.room.left.Load()) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	s.evict(ctx, closePatience)
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
