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
	// renewLease makes a lease last again, and takes it back if it ended and nobody
	// else took it.
	renewLease = `local v = redis.call("get", KEYS[1])
if not v or v == ARGV[1] then redis.call("set", KEYS[1], ARGV[1], "px", ARGV[2]) return 1 end
return 0`
	// takeLease tells whether a lease is this store's, as an answer was lost, and takes one
	// that is nobody's, as it does not end by itself, or not for
	// longer than leases last, or is no text: it was copied, or put there by hand.
	takeLease = `local t = redis.call("pttl", KEYS[1])
if t == -2 then return 0 end
if redis.call("type", KEYS[1]).ok == "string" and t >= 0 and t <= tonumber(ARGV[3]) then
return redis.call("get", KEYS[1]) == ARGV[1] and 1 or 0 end
redis.call("set", KEYS[1], ARGV[1], "px", ARGV[2]) return 1`
	// endLease removes a lease, unless it is somebody else's by now.
	endLease = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`
)

// Lease lends k among all who use the server. It is a lease by time: it is renewed
// while it is held, and ends by itself some seconds (Options.LeaseTime) after its
// process was killed. A process that is stopped for longer, or cut off from the
// server, loses it without being told, and then two compute the same. That is work
// done twice and never a wrong result, as both put the same under the key. While the
// server cannot be used, leases hold within the process.
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
		// Who waited long waits a little longer, and the server has less to do.
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

// TryLease lends those of the keys that nobody has, by one round trip for each 256.
func (s *Store) TryLease(ctx context.Context, keys []key.Key) (lent []bool, release func(), err error) {
	if err := context.Cause(ctx); err != nil {
		return nil, nil, err
	}
	lent = make([]bool, len(keys))
	within := make([]func(), len(keys))
	var mine []key.Key
	var at []int
	for i, k := range keys {
		ok, release := s.table.TryAcquire([]key.Key{k})
		if within[i], lent[i] = release, ok[0]; ok[0] {
			mine, at = append(mine, k), append(at, i)
		}
	}
	release = sync.OnceFunc(func() {
		var ours []key.Key
		for i, k := range keys {
			if lent[i] {
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
		return slices.Clone(lent), release, nil
	}
	for j, i := range at {
		if err != nil || !got[j] {
			lent[i] = false
			within[i]()
		}
	}
	if err != nil {
		release()
		return nil, nil, err
	}
	return slices.Clone(lent), release, nil
}

// acquire takes those of the leases that nobody has, or that this store has without
// knowing, as an answer was lost.
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

// errNonsense is what a server says that only seems to be one.
var errNonsense = errors.New("it says of a lease neither that it is there nor that it is not")

// takeOver takes those of the leases that were not got and are nobody's, or this store's.
func (s *Store) takeOver(ctx context.Context, keys []key.Key, got []bool) error {
	commands := make([]*goredis.Cmd, len(keys))
	err := s.run(ctx, func(p goredis.Pipeliner, ctx context.Context) { // of no commands is none
		for i, k := range keys {
			if !got[i] {
				commands[i] = p.Eval(ctx, takeLease, []string{s.leaseName(k)}, s.token, s.o.LeaseTime.Milliseconds(), mostLeaseTime.Milliseconds())
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
			s.lose(errNonsense) // or there would be no end of the waiting
			return ErrAway
		}
		got[i] = n == 1
	}
	return nil
}

// hold has leases renewed.
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

// end ends those of the leases that are held.
func (s *Store) end(keys []key.Key) {
	s.lending.Lock() // after this, no renewal brings them back
	keys = slices.DeleteFunc(slices.Clone(keys), func(k key.Key) bool {
		_, held := s.held[k]
		delete(s.held, k)
		return !held
	})
	s.lending.Unlock()
	for some := range slices.Chunk(keys, perTrip) {
		// What fails ends by itself.
		_ = s.run(context.Background(), func(p goredis.Pipeliner, ctx context.Context) {
			for _, k := range some {
				p.Eval(ctx, endLease, []string{s.leaseName(k)}, s.token)
			}
		})
	}
}

// renew renews what is held, as long as there is any.
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
			return // it is tried again, while the leases still last
		}
		for i, c := range commands {
			if n, err := c.Int(); err == nil && n == 0 {
				delete(s.held, some[i]) // another one has it
			}
		}
	}
}
