package redis

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/larder-data/larder/key"
)

const (
	firstPoll = 2 * time.Millisecond
	lastPoll  = 500 * time.Millisecond
)

const (
	// renewLease extends a lease, and takes it again if it expired and no other process
	// took it.
	renewLease = `local v = redis.call("get", KEYS[1])
if not v or v == ARGV[1] then redis.call("set", KEYS[1], ARGV[1], "px", ARGV[2]) return 1 end
return 0`
	// takeLease reports whether a lease is this store's, because an answer may be lost. It
	// also takes an invalid lease: one that does not expire, expires later than leases do,
	// or is not a string. Such a lease was copied or put there by hand.
	takeLease = `local t = redis.call("pttl", KEYS[1])
if t == -2 then return 0 end
if redis.call("type", KEYS[1]).ok == "string" and t >= 0 and t <= tonumber(ARGV[3]) then
return redis.call("get", KEYS[1]) == ARGV[1] and 1 or 0 end
redis.call("set", KEYS[1], ARGV[1], "px", ARGV[2]) return 1`
	// endLease removes a lease, unless another process has taken it.
	endLease = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`
)

// Lease leases k among all users of the server. The lease is bounded by time: the store
// renews it while it is held, and it expires Options.LeaseTime after its process was
// killed. A process that is stopped or disconnected for longer loses it without notice;
// then two processes may compute the same result. The work is done twice, but the result is
// never wrong, because both put the same under the key. While the server cannot be used,
// leases hold within the process.
func (s *Store) Lease(ctx context.Context, k key.Key) (release func(), err error) {
	within, err := s.table.Acquire(ctx, k)
	if err != nil {
		return nil, err
	}
	for began := time.Now(); ; {
		got, err := s.acquire(ctx, []key.Key{k})
		switch {
		case errors.Is(err, ErrAway):
			return within, nil
		case err != nil:
			within()
			return nil, err
		case got[0]:
			return sync.OnceFunc(func() {
				s.end([]key.Key{k})
				within()
			}), nil
		}
		// Callers that have waited long poll less often, which saves load on the server.
		wait := min(max(firstPoll, time.Since(began)/10), lastPoll)
		select {
		case <-ctx.Done():
			within()
			return nil, context.Cause(ctx)
		case <-s.closed.Done():
			within()
			return nil, errClosed
		case <-time.After(wait/2 + rand.N(wait)):
		}
	}
}

// TryLease leases those of the keys that no user holds, in one round trip per 256 keys.
func (s *Store) TryLease(ctx context.Context, keys []key.Key) (leased []bool, release func(), err error) {
	if err := context.Cause(ctx); err != nil {
		return nil, nil, err
	}
	leased = make([]bool, len(keys))
	within := make([]func(), len(keys))
	var mine []key.Key
	var at []int
	for i, k := range keys {
		ok, release := s.table.TryAcquire([]key.Key{k})
		if within[i], leased[i] = release, ok[0]; ok[0] {
			mine, at = append(mine, k), append(at, i)
		}
	}
	release = sync.OnceFunc(func() {
		var ours []key.Key
		for i, k := range keys {
			if leased[i] {
				ours = append(ours, k)
			}
		}
		s.end(ours)
		for _, w := range within {
			w()
		}
	})
	got, err := s.acquire(ctx, mine)
	if errors.Is(err, ErrAway) {
		return slices.Clone(leased), release, nil
	}
	for j, i := range at {
		if err != nil || !got[j] {
			leased[i] = false
			within[i]()
		}
	}
	if err != nil {
		release()
		return nil, nil, err
	}
	return slices.Clone(leased), release, nil
}

// acquire takes those of the leases that no user holds, and those that this store holds
// unknowingly because an answer was lost.
func (s *Store) acquire(ctx context.Context, keys []key.Key) (got []bool, err error) {
	got = make([]bool, len(keys))
	if s.writable() != nil {
		return nil, ErrAway
	}
	for from := 0; from < len(keys); from += perTrip {
		some := keys[from:min(from+perTrip, len(keys))]
		taken := make([]*goredis.BoolCmd, len(some))
		err := s.run(ctx, func(p goredis.Pipeliner, ctx context.Context) {
			for i, k := range some {
				taken[i] = p.SetNX(ctx, s.leaseName(k), s.token, s.o.LeaseTime)
			}
		})
		for i := range some {
			if err == nil && s.refused(taken[i].Err()) != nil {
				err = ErrAway
			}
			got[from+i] = err == nil && taken[i].Val()
		}
		if err == nil {
			err = s.takeOver(ctx, some, got[from:])
		}
		if err != nil {
			s.hold(keys, got)
			s.end(keys)
			return nil, err
		}
	}
	s.hold(keys, got)
	return got, nil
}

// errNonsense reports contradictory answers of a server.
var errNonsense = errors.New("unexpected reply about a lease")

// takeOver takes those of the remaining leases that are invalid, or this store's.
func (s *Store) takeOver(ctx context.Context, keys []key.Key, got []bool) error {
	commands := make([]*goredis.Cmd, len(keys))
	err := s.run(ctx, func(p goredis.Pipeliner, ctx context.Context) { // without commands it does nothing
		for i, k := range keys {
			if !got[i] {
				commands[i] = p.Eval(ctx, takeLease, []string{s.leaseName(k)}, s.token, s.o.LeaseTime.Milliseconds(), maxLeaseTime.Milliseconds())
			}
		}
	})
	if err != nil {
		return err
	}
	for i, c := range commands {
		if c == nil {
			continue
		}
		n, err := c.Int64()
		switch {
		case s.refused(c.Err()) != nil:
			return ErrAway
		case err != nil || n < 0 || n > 1:
			s.lose(errNonsense) // otherwise the caller would wait forever
			return ErrAway
		}
		got[i] = n == 1
	}
	return nil
}

// hold starts the renewal of leases.
func (s *Store) hold(keys []key.Key, got []bool) {
	s.lending.Lock()
	defer s.lending.Unlock()
	for i, k := range keys {
		if got[i] {
			s.held[k] = struct{}{}
		}
	}
	if !s.renewing && len(s.held) > 0 {
		s.renewing = true
		s.task(s.renew)
	}
}

// end ends the leases that are held.
func (s *Store) end(keys []key.Key) {
	s.lending.Lock() // after this, no renewal brings them back
	keys = slices.DeleteFunc(slices.Clone(keys), func(k key.Key) bool {
		_, held := s.held[k]
		delete(s.held, k)
		return !held
	})
	s.lending.Unlock()
	for some := range slices.Chunk(keys, perTrip) {
		// After a failure they expire.
		_ = s.run(context.Background(), func(p goredis.Pipeliner, ctx context.Context) {
			for _, k := range some {
				p.Eval(ctx, endLease, []string{s.leaseName(k)}, s.token)
			}
		})
	}
}

// renew renews the held leases until there are none.
func (s *Store) renew(ctx context.Context) {
	tick := time.NewTicker(s.o.LeaseTime / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		s.lending.Lock()
		if len(s.held) == 0 {
			s.renewing = false
			s.lending.Unlock()
			return
		}
		s.renewAll(ctx)
		s.lending.Unlock()
	}
}

func (s *Store) renewAll(ctx context.Context) {
	keys := make([]key.Key, 0, len(s.held))
	for k := range s.held {
		keys = append(keys, k)
	}
	for some := range slices.Chunk(keys, perTrip) {
		commands := make([]*goredis.Cmd, len(some))
		err := s.run(ctx, func(p goredis.Pipeliner, ctx context.Context) {
			for i, k := range some {
				commands[i] = p.Eval(ctx, renewLease, []string{s.leaseName(k)}, s.token, s.o.LeaseTime.Milliseconds())
			}
		})
		if err != nil {
			return // the next try comes before the leases expire
		}
		for i, c := range commands {
			if n, err := c.Int(); err == nil && n == 0 {
				delete(s.held, some[i]) // another process has it
			}
		}
	}
}
