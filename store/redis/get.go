package redis

import (
	"context"
	"errors"
	"slices"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

const (
	perTrip   = 256       // commands of one round trip
	tripBytes = 8 << 20   // bytes of records read or written in one round trip
	firstRead = 32 << 10  // bytes requested before the size is known
	useNoted  = time.Hour // precision of the last use
)

// Get returns the record stored under k.
func (s *Store) Get(ctx context.Context, k key.Key) (store.Record, error) {
	records, err := s.GetMany(ctx, []key.Key{k})
	if err != nil {
		return store.Record{}, err
	}
	if records[0].Key.IsZero() {
		return store.Record{}, store.ErrNotFound
	}
	return records[0], nil
}

// GetWithoutRefresh is Get, because records of other processes are visible immediately.
func (s *Store) GetWithoutRefresh(ctx context.Context, k key.Key) (store.Record, error) {
	return s.Get(ctx, k)
}

// GetMany takes one round trip for each 256 keys, and more for records over 32 KiB.
func (s *Store) GetMany(ctx context.Context, keys []key.Key) ([]store.Record, error) {
	records, err := s.GetCombined(ctx, keys)
	for i := range records {
		records[i].Provenance = nil
	}
	return records, err
}

// GetCombined is GetMany with provenance.
func (s *Store) GetCombined(ctx context.Context, keys []key.Key) ([]store.Record, error) {
	records := make([]store.Record, len(keys))
	var used []key.Key
	for from := 0; from < len(keys); from += perTrip {
		to := min(from+perTrip, len(keys))
		old, err := s.fetch(ctx, keys[from:to], records[from:to])
		if errors.Is(err, ErrAway) {
			break // the rest is missing
		}
		if err != nil {
			return nil, err
		}
		used = append(used, old...)
	}
	s.touch(ctx, used)
	return records, nil
}

// Provenance returns the provenance stored with the record under k.
func (s *Store) Provenance(ctx context.Context, k key.Key) ([]byte, error) {
	records, err := s.GetCombined(ctx, []key.Key{k})
	if err != nil {
		return nil, err
	}
	if records[0].Key.IsZero() {
		return nil, store.ErrNotFound
	}
	return slices.Clone(records[0].Provenance), nil
}

// Has reports whether something is stored under k.
func (s *Store) Has(ctx context.Context, k key.Key) (bool, error) {
	if k.IsZero() {
		return false, nil
	}
	var length *goredis.IntCmd
	err := s.run(ctx, func(p goredis.Pipeliner, ctx context.Context) { length = p.StrLen(ctx, s.recordName(k)) })
	if errors.Is(err, ErrAway) {
		return false, nil
	}
	return err == nil && length.Val() >= headerSize, err
}

// fetch reads the records of some keys, and returns the keys whose last use should be
// updated.
func (s *Store) fetch(ctx context.Context, keys []key.Key, into []store.Record) (old []key.Key, err error) {
	first, err := s.read(ctx, keys, firstRead)
	if err != nil {
		return nil, err
	}
	large, bytes := []int(nil), int64(0)
	rest := func() error {
		if len(large) == 0 {
			return nil
		}
		most := make([]key.Key, len(large))
		for j, i := range large {
			most[j] = keys[i]
		}
		whole, err := s.read(ctx, most, s.o.MaxRecord+1) // one byte more reveals a longer one
		for j, i := range large {
			if err == nil {
				into[i] = s.open(keys[i], whole[j])
			}
		}
		large, bytes = nil, 0
		return err
	}
	for i, b := range first {
		if len(b) == 0 {
			continue
		}
		h, err := decodeHeader(keys[i], b)
		switch {
		case err != nil:
			s.damaged(keys[i], err)
			continue
		case h.total() > s.o.MaxRecord:
			continue // written by a process with a larger bound
		case len(b) < firstRead:
			into[i] = s.open(keys[i], b)
		default:
			large, bytes = append(large, i), bytes+h.total()
		}
		if time.Since(h.Used) > useNoted {
			old = append(old, keys[i])
		}
		if bytes > tripBytes {
			if err := rest(); err != nil {
				return nil, err
			}
		}
	}
	return old, rest()
}

// read returns the first bytes of the strings stored under keys, where they exist.
func (s *Store) read(ctx context.Context, keys []key.Key, bytes int64) ([][]byte, error) {
	commands := make([]*goredis.StringCmd, len(keys))
	err := s.run(ctx, func(p goredis.Pipeliner, ctx context.Context) {
		for i, k := range keys {
			if !k.IsZero() {
				commands[i] = p.GetRange(ctx, s.recordName(k), 0, bytes-1)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	all := make([][]byte, len(keys))
	for i, c := range commands {
		if c == nil {
			continue
		}
		switch err := c.Err(); {
		case isAny(err, "NOPERM"):
			s.lose(err)
			return nil, ErrAway
		case err != nil: // not a string
			s.damaged(keys[i], errForeign)
		default:
			all[i], _ = c.Bytes()
		}
	}
	return all, nil
}

// open returns the record stored under k, or the zero Record if it is damaged. After its
// size was read, a larger record may have replaced it; then b is incomplete.
func (s *Store) open(k key.Key, b []byte) store.Record {
	if len(b) == 0 {
		return store.Record{}
	}
	h, err := decodeHeader(k, b)
	if err == nil && h.total() > s.o.MaxRecord {
		return store.Record{}
	}
	var r store.Record
	if err == nil {
		r, err = decode(h, b)
	}
	if err != nil {
		s.damaged(k, err)
		return store.Record{}
	}
	return r
}

// noteUse changes the last use of a record, unless it was removed.
const noteUse = `if redis.call("strlen", KEYS[1]) >= 104 then redis.call("setrange", KEYS[1], 96, ARGV[1]) end return 0`

// touch records that records were used now.
func (s *Store) touch(ctx context.Context, keys []key.Key) {
	if s.writable() != nil {
		return
	}
	for some := range slices.Chunk(keys, perTrip) {
		commands := make([]*goredis.Cmd, len(some))
		err := s.run(ctx, func(p goredis.Pipeliner, ctx context.Context) {
			for i, k := range some {
				commands[i] = p.Eval(ctx, noteUse, []string{s.recordName(k)}, minutes(time.Now()))
			}
		})
		if err != nil || s.refused(commands[0].Err()) != nil {
			return // it is only evicted sooner
		}
	}
}
