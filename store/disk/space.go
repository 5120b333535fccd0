package disk

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/larder-data/larder/store/disk/internal/vfs"
)

// space keeps the directory below its limit.
type space struct {
	held atomic.Int64 // estimated bytes in the directory and in removed files that are mapped
	left atomic.Int64 // bytes that the last eviction had to leave

	wanted chan struct{} // wakes housekeep; buffers one

	mu      sync.Mutex
	changed sync.Cond // condition of the fields below
	due     bool      // an eviction is due
	ended   int       // number of evictions that ended
	writing int64     // bytes admitted to be written, not in held yet
	let     bool      // a caller was admitted since an eviction ended
	waiting []*int64  // callers that wait to write, in order of arrival
}

// lockPatience is how long a background eviction waits for another process that is
// evicting.
const lockPatience = time.Second

// flushEvery is how often uses of old records are written to files.
const flushEvery = 5 * time.Minute

// housekeep runs until Close. It evicts if the store holds too much, merges indexes if
// there are enough, and regularly writes uses of old records.
func (s *Store) housekeep() {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.life.Done():
			s.space.done()
			return
		case <-tick.C:
			s.flushTouches()
		case <-s.index.merge:
			s.mergeIndexes(s.life)
		case <-s.space.wanted:
			s.evict(s.life, lockPatience)
			s.space.done()
		}
	}
}

// evict frees a tenth of the limit, or half of that if the rest lies between records that
// stay: moving those blocks Puts. It waits up to patience for another process that is
// evicting.
func (s *Store) evict(ctx context.Context, patience time.Duration) {
	_, left, err := s.collect(ctx, s.limit-s.limit/10, s.limit/20, patience)
	switch {
	case err == nil:
	case errors.Is(err, vfs.ErrLocked): // another process evicts: check its progress
		_, _ = s.look() // an estimate suffices
		return
	case ctx.Err() != nil: // Close evicts, unless its patience ends
		return
	default:
		s.files.Log.Warn("store: cannot evict old records", "dir", s.files.Dir, "error", err)
		left = s.space.held.Load() // try again when there is more
	}
	s.space.left.Store(left)
}

// look measures what is held.
func (s *Store) look() (bytes int64, err error) {
	counted := s.space.held.Load() // before measuring, so that no Put is missed
	bytes, err = s.measure()
	bytes += s.mapped.Removed()
	if err == nil {
		s.space.held.Add(bytes - counted)
	}
	return bytes, err
}

// trigger returns the size beyond which records are evicted. Pinned records and those being
// written stay; not every Put tries to evict them again.
func (s *Store) trigger() int64 { return max(s.limit, s.space.left.Load()+s.limit/16) }

// freeSpace requests an eviction if the store holds too much.
func (s *Store) freeSpace() {
	if s.limit == 0 || s.space.held.Load() <= s.trigger() {
		return
	}
	s.space.mu.Lock()
	defer s.space.mu.Unlock()
	s.space.want()
}

// enter waits until bytes can be written: evictions may be slower than Puts, and many
// callers may write concurrently. A write larger than the limit runs alone, after an
// eviction. The caller passes to leave by how many bytes the directory grew. If ctx ends,
// the record is stored nevertheless.
func (s *Store) enter(ctx context.Context, bytes int64) (leave func(grown int64)) {
	r := &s.space
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

// waitToFit waits until the bytes fit and all earlier callers have been admitted. The lock
// is held.
func (s *Store) waitToFit(ctx context.Context, bytes int64) {
	r, me := &s.space, &bytes
	defer context.AfterFunc(ctx, r.wake)()
	r.waiting = append(r.waiting, me)
	for since := r.ended; ctx.Err() == nil && s.life.Err() == nil && (r.waiting[0] != me || !s.fits(bytes, since)); r.changed.Wait() {
		if r.writing == 0 || r.held.Load() > s.limit-s.limit/20 { // otherwise wait for the current writers
			r.want()
		}
	}
	at := slices.Index(r.waiting, me)
	r.waiting = slices.Delete(r.waiting, at, at+1)
	r.changed.Broadcast() // the next one may fit, too
}

// fits reports whether the bytes fit. The caller began to wait when since evictions had
// ended. The lock is held.
func (s *Store) fits(bytes int64, since int) bool {
	r := &s.space
	if r.held.Load()+r.writing+bytes <= s.trigger()+s.limit/16 {
		return true
	}
	return r.writing == 0 && r.ended > since && !r.let
}

// closePatience is how long Close evicts, or waits for another process that evicts.
const closePatience = 30 * time.Second

// finishEviction evicts the excess after the last Put, so that many short runs do not
// accumulate it.
func (s *Store) finishEviction() {
	if s.limit == 0 || s.files.ReadOnly || s.space.held.Load() <= max(s.limit, s.space.left.Load()) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	s.evict(ctx, closePatience)
}

// want requests an eviction. The lock is held.
func (r *space) want() {
	if r.due {
		return
	}
	r.due = true
	select {
	case r.wanted <- struct{}{}:
	default: // one requested before Close
	}
}

// done records that an eviction ended.
func (r *space) done() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.due, r.let = false, false
	r.ended++
	r.changed.Broadcast()
}

func (r *space) wake() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changed.Broadcast()
}
