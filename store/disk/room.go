package disk

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/larder-data/larder/store/disk/internal/medium"
)

// room keeps the folder below its limit.
type room struct {
	held atomic.Int64 // estimate of the bytes in the folder, and of files that were removed and are mapped
	left atomic.Int64 // what the last eviction had to leave

	wanted chan struct{} // wakes housekeep; holds one

	mu      sync.Mutex
	changed sync.Cond // of what follows
	due     bool      // an eviction is
	ended   int       // evictions
	writing int64     // bytes for which there is room, and which are not in held yet
	let     bool      // somebody was let in since an eviction ended
	waiting []*int64  // those who wait to write, in the order in which they came
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

// makeRoom has records evicted if there are too many.
func (s *Store) makeRoom() {
	if s.limit == 0 || s.room.held.Load() <= s.trigger() {
		return
	}
	s.room.mu.Lock()
	defer s.room.mu.Unlock()
	s.room.want()
}

// enter waits until there is room for bytes that are about to be written: where Puts are faster
// than eviction, and where many write at once. What is more than that has its turn alone, after an
// eviction. leave says by how many bytes the folder grew. If ctx ends, the record is kept all the
// same.
func (s *Store) enter(ctx context.Context, bytes int64) (leave func(grown int64)) {
	r := &s.room
	if s.limit == 0 {
		return func(grown int64) { r.held.Add(grown) }
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.waiting) > 0 || !s.fits(bytes, r.ended) {
		s.waitToFit(ctx, bytes)
	}
	r.writing += bytes
	r.let = true
	return func(grown int64) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.held.Add(grown) > s.trigger() {
			r.want()
		}
		r.writing -= bytes
		r.changed.Broadcast()
	}
}

// waitToFit waits until there is room, and all who came before have theirs. The lock is held.
func (s *Store) waitToFit(ctx context.Context, bytes int64) {
	r, me := &s.room, &bytes
	defer context.AfterFunc(ctx, r.wake)()
	r.waiting = append(r.waiting, me)
	for since := r.ended; ctx.Err() == nil && s.life.Err() == nil && (r.waiting[0] != me || !s.fits(bytes, since)); r.changed.Wait() {
		if r.writing == 0 || r.held.Load() > s.limit-s.limit/20 { // else those who write now are waited for
			r.want()
		}
	}
	at := slices.Index(r.waiting, me)
	r.waiting = slices.Delete(r.waiting, at, at+1)
	r.changed.Broadcast() // the next one may fit, too
}

// fits reports whether there is room, of evictions of which so many had ended when it was needed
// first. The lock is held.
func (s *Store) fits(bytes int64, since int) bool {
	r := &s.room
	if r.held.Load()+r.writing+bytes <= s.trigger()+s.limit/16 {
		return true
	}
	return r.writing == 0 && r.ended > since && !r.let
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

// want asks for an eviction. The lock is held.
func (r *room) want() {
	if r.due {
		return
	}
	r.due = true
	select {
	case r.wanted <- struct{}{}:
	default: // one that was asked for before Close
	}
}

// done says that one has ended.
func (r *room) done() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.due, r.let = false, false
	r.ended++
	r.changed.Broadcast()
}

func (r *room) wake() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changed.Broadcast()
}
