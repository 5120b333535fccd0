package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// nameOverhead is about what the server needs for a string in addition to its bytes.
const nameOverhead = 96

// space returns how many bytes of the server a record of the given size takes.
func (s *Store) space(bytes int64) int64 {
	return nameOverhead + int64(len(s.o.Prefix)+len(recordKind)) + key.Size + bytes
}

// Put stores records. For those that cannot be stored, it removes the previous ones under
// their keys. The error is then store.ErrFull (a record exceeds Options.MaxRecord, or the
// server has no memory), store.ErrReadOnly (the user may not write) or ErrAway.
func (s *Store) Put(ctx context.Context, records ...store.Record) error {
	for i := range records {
		if err := records[i].Check(); err != nil {
			return err
		}
	}
	var errs error
	for len(records) > 0 {
		n, bytes := 0, int64(0)
		for n < len(records) && n < perTrip && bytes < tripBytes {
			bytes += min(sizeOf(&records[n]), s.o.MaxRecord)
			n++
		}
		err := s.put(ctx, records[:n])
		if err != nil && !errors.Is(err, store.ErrFull) {
			return err
		}
		if errs == nil {
			errs = err
		}
		records = records[n:]
	}
	return errs
}

// put stores records in one round trip.
func (s *Store) put(ctx context.Context, records []store.Record) error {
	why := s.writable()
	if errors.Is(why, store.ErrReadOnly) {
		return why
	}
	if why == nil {
		why = s.overfull()
	}
	now, bytes := time.Now(), int64(0)
	strings := make([][]byte, len(records))
	err := why
	for i := range records {
		r := records[i]
		switch {
		case why != nil:
			continue
		case sizeOf(&r) > s.o.MaxRecord:
			err = fmt.Errorf("redis: record %s has %d bytes, above the limit of %d: %w", r.Key, sizeOf(&r), s.o.MaxRecord, store.ErrFull)
			continue
		case r.Created.IsZero():
			r.Created = now
		}
		strings[i] = encode(&r, now)
		bytes += s.space(int64(len(strings[i])))
	}
	if failed := s.write(ctx, records, strings, bytes); failed != nil {
		return failed
	}
	return err
}

// write sends the strings of records; a nil string removes the record. It counts the bytes
// first, so after a failure the count is too high, never too low.
func (s *Store) write(ctx context.Context, records []store.Record, strings [][]byte, bytes int64) error {
	var count *goredis.IntCmd
	commands := make([]goredis.Cmder, len(records))
	err := s.run(ctx, func(p goredis.Pipeliner, ctx context.Context) {
		if bytes > 0 {
			count = p.IncrBy(ctx, s.countName(), bytes)
		}
		for i, b := range strings {
			name := s.recordName(records[i].Key)
			if b == nil {
				commands[i] = p.Del(ctx, name)
			} else {
				commands[i] = p.Set(ctx, name, b, 0)
			}
		}
	})
	if err != nil {
		return err
	}
	var refused []string
	for i, c := range commands {
		if why := s.refused(c.Err()); why != nil {
			err = why
			refused = append(refused, s.recordName(records[i].Key))
		}
	}
	if len(refused) == 0 && count != nil {
		s.unfit.Store(nil)
		s.grown(ctx, count, bytes)
	}
	if errors.Is(err, store.ErrFull) { // removal needs no memory
		_ = s.run(ctx, func(p goredis.Pipeliner, ctx context.Context) { p.Del(ctx, refused...) })
	}
	return err
}

// Delete deletes the records under keys.
func (s *Store) Delete(ctx context.Context, keys ...key.Key) error {
	for len(keys) > 0 {
		n := min(len(keys), perTrip)
		commands := make([]*goredis.IntCmd, n)
		err := s.run(ctx, func(p goredis.Pipeliner, ctx context.Context) {
			for i, k := range keys[:n] {
				commands[i] = p.Del(ctx, s.recordName(k))
			}
		})
		for _, c := range commands {
			if err == nil {
				err = s.refused(c.Err())
			}
		}
		if err != nil {
			return err
		}
		keys = keys[n:]
	}
	return nil
}
