package redis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/larder-data/larder/store"
)

const (
	firstRetry = 500 * time.Millisecond // after which a lost server is tried again
	lastRetry  = 30 * time.Second
	lastPause  = 5 * time.Minute  // the same for a server that is lost repeatedly
	quiet      = 10 * time.Minute // between two warnings that the server is lost
	unfitFor   = 10 * time.Second // how long nothing is written after a refusal
)

// errCluster is the error after which the server is never tried again.
var errCluster = errors.New("a Redis cluster is not supported; name a single server")

// unfit holds why and until when nothing is written.
type unfit struct {
	err   error
	until time.Time
}

// talk calls f, which talks to the server, for at most the timeout, unless the server
// cannot be used. If f fails, talk returns ErrAway or the error of ctx. Errors of single
// commands are left to f, which handles them with refused.
func (s *Store) talk(ctx context.Context, f func(ctx context.Context) error) error {
	if s.closed.Err() != nil {
		return errClosed
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if why := s.away.Load(); why != nil {
		return fmt.Errorf("%w: %s: %w", ErrAway, s.shown, *why)
	}
	bounded, stop := context.WithTimeout(ctx, s.o.Timeout)
	defer stop()
	began := time.Now()
	err := f(bounded)
	if err == nil {
		s.took(time.Since(began))
		return nil
	}
	err = s.masked(err)
	if s.closed.Err() != nil {
		return errClosed
	}
	if cause := ended(ctx); cause != nil {
		return cause
	}
	s.lose(err)
	return fmt.Errorf("%w: %s: %w", ErrAway, s.shown, err)
}

// ended returns why ctx is over. A read may reach the deadline just before ctx does.
func ended(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if at, ok := ctx.Deadline(); ok && !time.Now().Before(at) {
		return context.DeadlineExceeded
	}
	return nil
}

// run executes the commands of a pipeline in one round trip.
func (s *Store) run(ctx context.Context, fill func(p goredis.Pipeliner, ctx context.Context)) error {
	return s.talk(ctx, func(ctx context.Context) error {
		p := s.client.Pipeline()
		fill(p, ctx)
		if p.Len() == 0 {
			return nil
		}
		commands, err := p.Exec(ctx)
		err = lost(err)
		for i := 0; err == nil && i < len(commands); i++ { // the error was only the first one
			err = lost(commands[i].Err())
		}
		return err
	})
}

// lost returns err unless it concerns only one command.
func lost(err error) error {
	var answer goredis.Error
	switch {
	case err == nil, errors.Is(err, goredis.Nil):
		return nil
	case !errors.As(err, &answer):
		return err
	case isAny(err, "MOVED ", "ASK ", "CLUSTERDOWN", "CROSSSLOT"):
		return errCluster
	case isAny(err, "WRONGTYPE", "OOM ", "READONLY", "NOPERM", "MISCONF", "NOREPLICAS", "value is not an integer", "increment or decrement would overflow"):
		return nil
	}
	return err // LOADING, NOAUTH, WRONGPASS, too many clients, an unknown command
}

func isAny(err error, prefixes ...string) bool {
	for _, p := range prefixes {
		if goredis.HasErrorPrefix(err, p) {
			return true
		}
	}
	return false
}

// lose marks the server as unusable, and starts retries.
func (s *Store) lose(err error) {
	if !s.away.CompareAndSwap(nil, &err) {
		return
	}
	now := time.Now().UnixNano()
	// Each loss costs a wait. After a loss soon after the last one, the pause is much
	// longer, so that even a long run loses only seconds.
	pause := firstRetry
	if back := s.back.Load(); back != 0 && now-back < 20*s.pause.Load() {
		pause = min(4*time.Duration(s.pause.Load()), lastPause)
	}
	s.pause.Store(int64(pause))
	if reported := s.reported.Load(); reported == 0 || now-reported > int64(quiet) {
		s.reported.Store(now)
		s.log.Warn("redis: the shared store cannot be used; results are computed and cached on this machine", "server", s.shown, "error", err)
	}
	if !errors.Is(err, errCluster) {
		s.task(s.retry)
	}
}

// retry waits until the server answers.
func (s *Store) retry(ctx context.Context) {
	for wait := time.Duration(s.pause.Load()); ; wait = min(2*wait, max(lastRetry, wait)) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait/2 + rand.N(wait/2)): // not all simultaneously
		}
		bounded, stop := context.WithTimeout(ctx, s.o.Timeout)
		err := s.client.Get(bounded, s.countName()).Err()
		stop()
		if lost(err) == nil && !isAny(err, "NOPERM") {
			s.back.Store(time.Now().UnixNano())
			s.away.Store(nil)
			s.log.Info("redis: the shared store can be used again", "server", s.shown)
			return
		}
	}
}

// refused returns why the server refuses writes, nil if err does not say so. It stops
// writes for a while.
func (s *Store) refused(err error) error {
	var why error
	switch {
	case err == nil:
		return nil
	case isAny(err, "OOM "):
		why = fmt.Errorf("redis: %s has no memory left; give it a maxmemory-policy such as allkeys-lru: %w", s.shown, store.ErrFull)
	case isAny(err, "MISCONF", "NOREPLICAS"):
		why = fmt.Errorf("redis: %s refuses writes (%w): %w", s.shown, s.masked(err), store.ErrFull)
	case isAny(err, "NOPERM"):
		why = fmt.Errorf("redis: %s denies this user write commands (%w): %w", s.shown, s.masked(err), store.ErrReadOnly)
	case isAny(err, "READONLY"):
		why = fmt.Errorf("redis: %s is a replica; name the primary server: %w", s.shown, store.ErrReadOnly)
	default:
		return nil
	}
	if s.unfit.Swap(&unfit{why, time.Now().Add(unfitFor)}) == nil {
		s.log.Warn("redis: results are not shared", "server", s.shown, "error", why)
	}
	return why
}

// writable returns why nothing can be written now.
func (s *Store) writable() error {
	if u := s.unfit.Load(); u != nil && time.Now().Before(u.until) {
		return u.err
	}
	return nil
}
