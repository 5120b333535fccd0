package redis

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// errLeft ends a scan whose reader has stopped.
var errLeft = errors.New("redis: the reader stopped")

const (
	collectFor = time.Minute            // longest time that one process evicts while others wait
	noUse      = 10 * time.Second       // pause after an eviction that did not free enough
	soon       = 100 * time.Millisecond // pause after finding that another process is evicting
)

// The server counts the bytes that are put, and evictions subtract what they removed. So
// the count is at least the bytes stored. A lost count restarts with the next Put; then all
// records are counted.

// grown reads the count after bytes were put, and starts an eviction if it is over the cap.
func (s *Store) grown(ctx context.Context, count *goredis.IntCmd, bytes int64) {
	n, err := count.Result()
	if err != nil || n < bytes {
		s.miscounted(ctx)
		return
	}
	s.counted.Store(n)
	if s.o.MaxBytes < 0 {
		return
	}
	if n == bytes { // the count is new: all records must be counted
		s.rest.Store(0)
		if !s.freeSpace(true) {
			s.resetCount(ctx)
		}
	} else if n > s.o.MaxBytes {
		s.freeSpace(false)
	}
}

// miscounted removes an invalid count, so that the next Put counts all records.
func (s *Store) miscounted(ctx context.Context) {
	s.log.Warn("redis: the count of bytes was damaged and is reset", "server", s.shown, "name", s.countName())
	s.resetCount(ctx)
}

// resetCount removes the count, so that the next Put counts all records.
func (s *Store) resetCount(ctx context.Context) {
	_ = s.run(ctx, func(p goredis.Pipeliner, ctx context.Context) { p.Del(ctx, s.countName()) })
}

// overfull returns an error while no more may be put: between two evictions, the store may
// exceed the cap by a sixteenth.
func (s *Store) overfull() error {
	if s.o.MaxBytes < 0 || s.counted.Load() <= s.o.MaxBytes+s.o.MaxBytes/16 {
		return nil
	}
	s.freeSpace(false)
	return fmt.Errorf("redis: %s holds more than %d bytes: %w", s.shown, s.o.MaxBytes, store.ErrFull)
}

// freeSpace evicts in the background, unless this or another process is evicting. A new count
// is reset then, because that eviction may have corrected the count before it was lost. It
// reports whether a task of this process began.
func (s *Store) freeSpace(newCount bool) bool {
	if time.Now().UnixNano() < s.rest.Load() || !s.collects.CompareAndSwap(false, true) {
		return false
	}
	s.task(func(ctx context.Context) {
		defer s.collects.Store(false)
		var mine *goredis.BoolCmd
		wait := noUse
		err := s.run(ctx, func(p goredis.Pipeliner, ctx context.Context) {
			mine = p.SetNX(ctx, s.collectName(), s.token, collectFor)
		})
		if err == nil && mine.Val() {
			_, err = s.collect(ctx, s.o.MaxBytes, s.o.MaxBytes-s.o.MaxBytes/10)
			_ = s.run(ctx, func(p goredis.Pipeliner, ctx context.Context) { p.Del(ctx, s.collectName()) })
		} else if err == nil {
			wait = soon
			if newCount {
				s.resetCount(ctx)
			} else {
				err = s.recount(ctx, 0, 0)
			}
		}
		if err != nil || s.counted.Load() > s.o.MaxBytes {
			s.rest.Store(time.Now().Add(wait).UnixNano())
		}
	})
	return true
}

// Collect evicts until at most limit bytes are stored.
func (s *Store) Collect(ctx context.Context, limit int64) (freed int64, err error) {
	return s.collect(ctx, limit, limit)
}

// collect evicts down to target if the store holds more than limit. It scans all records
// twice and stores only the total size per class of worth, because there may be very many.
func (s *Store) collect(ctx context.Context, limit, target int64) (freed int64, err error) {
	pinned, err := s.pinned(ctx)
	if err != nil {
		return 0, err
	}
	before, err := s.count(ctx)
	if err != nil {
		return 0, err
	}
	now, held, classes := time.Now(), int64(0), [classes]int64{}
	err = s.scan(ctx, func(found []stored) error {
		for _, f := range found {
			held += f.space
			if !pinned[f.Key] {
				classes[classOf(worth(f, now))] += f.space
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	if held > limit {
		last, sum := 0, classes[0]
		for last < len(classes)-1 && sum < held-target {
			last++
			sum += classes[last]
		}
		most := held - target - (sum - classes[last]) // bytes to evict in the last class
		freed, err = s.evict(ctx, pinned, now, last, most)
	}
	if errors.Is(err, store.ErrReadOnly) {
		return freed, err
	}
	return freed, errors.Join(err, s.recount(ctx, held-freed-before, before))
}

// evict removes the records in the classes before the last one, and up to most bytes of the
// last.
func (s *Store) evict(ctx context.Context, pinned map[key.Key]bool, now time.Time, last int, most int64) (freed int64, err error) {
	err = s.scan(ctx, func(found []stored) error {
		var gone []stored
		for _, f := range found {
			class := classOf(worth(f, now))
			if pinned[f.Key] || class > last || class == last && most <= 0 {
				continue
			}
			if class == last {
				most -= f.space
			}
			gone = append(gone, f)
		}
		commands := make([]*goredis.IntCmd, len(gone))
		err := s.run(ctx, func(p goredis.Pipeliner, ctx context.Context) {
			for i, f := range gone {
				commands[i] = p.Del(ctx, s.recordName(f.Key))
			}
		})
		for i, c := range commands {
			if err == nil {
				err = s.refused(c.Err())
			}
			if err == nil && c.Val() > 0 {
				freed += gone[i].space
			}
		}
		return err
	})
	return freed, err
}

// classes is the number of classes of worth, eight per doubling.
const classes = 2048

func classOf(worth float64) int {
	if !(worth > 0) {
		return 0
	}
	return min(max(int(math.Log2(worth)*8)+classes/2, 0), classes-1)
}

// count returns the byte count of the server.
func (s *Store) count(ctx context.Context) (int64, error) {
	var c *goredis.StringCmd
	err := s.run(ctx, func(p goredis.Pipeliner, ctx context.Context) { c = p.Get(ctx, s.countName()) })
	if err != nil {
		return 0, err
	}
	n, err := c.Int64()
	if err != nil {
		return 0, nil // missing, or not a number
	}
	return n, nil
}

// recount corrects the count, which was at least before. A smaller one was lost in between, or
// another process has corrected it, too.
func (s *Store) recount(ctx context.Context, by, before int64) error {
	var c *goredis.IntCmd
	err := s.run(ctx, func(p goredis.Pipeliner, ctx context.Context) { c = p.IncrBy(ctx, s.countName(), by) })
	if err == nil {
		err = s.refused(c.Err())
	}
	if err == nil && (c.Err() != nil || c.Val() < 0 || c.Val()-by < before) {
		s.miscounted(ctx)
		return nil
	}
	if err == nil {
		s.counted.Store(c.Val())
	}
	return err
}
