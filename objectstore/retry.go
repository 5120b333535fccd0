package objectstore

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Limits of retries.
const (
	tries     = 6 // without progress
	firstWait = 200 * time.Millisecond
	maxWait   = 20 * time.Second // even if the server asks for more
	// progressBytes must arrive before the tries count from zero again, so that a server
	// that always breaks off cannot block a caller forever.
	progressBytes = 64 << 10
)

// stallTime is the longest time without a byte. Tests shorten it.
var stallTime = 30 * time.Second

// pause waits before a retry.
var pause = func(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// again calls do until it succeeds or fails permanently.
func again(ctx context.Context, do func(ctx context.Context) error) error {
	for n := 0; ; n++ {
		err := do(ctx)
		if err == nil {
			return nil
		}
		if err := wait(ctx, n, err); err != nil {
			return err
		}
	}
}

// wait waits after the n-th failure if a retry may fix it, and otherwise returns the error.
func wait(ctx context.Context, n int, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	e, ok := errors.AsType[*RetryableError](err)
	if !ok {
		return err
	}
	if n+1 >= tries {
		return &triedError{e.Err}
	}
	TrafficOf(ctx).retry()
	return pause(ctx, delay(n, e.After))
}

// delay returns a random time to wait, so that clients that failed together do not return
// together.
func delay(n int, asked time.Duration) time.Duration {
	if asked > 0 {
		return min(asked, maxWait)
	}
	return rand.N(min(firstWait<<n, maxWait)) + 1
}

// A triedError is the error of an operation that failed at every try.
type triedError struct{ err error }

func (e *triedError) Error() string { return e.err.Error() + "; it was tried several times" }

func (e *triedError) Unwrap() error { return e.err }

// errStalled ends a request without progress.
var errStalled = &RetryableError{Err: errors.New("no data arrived for too long; the server or the network is stalled")}

// slowTime is the time in which slowBytes must arrive: slower answers (1 KiB per second)
// are cancelled. slowBytes is less than progressBytes, so that the tries end. Tests shorten
// it.
var slowTime = time.Minute

const slowBytes = 60 << 10

// errSlow ends a very slow answer.
var errSlow = &RetryableError{Err: errors.New("less than 1 KiB came in a second, for a minute: the server or the network is too slow")}

// A pace counts bytes and the time spent waiting for them.
type pace struct {
	waited time.Duration
	bytes  int
}

// slow counts bytes, and reports whether they arrive too slowly.
func (p *pace) slow(n int, waited time.Duration) bool {
	p.waited += waited
	p.bytes += n
	if p.waited < slowTime {
		return false
	}
	slow := p.bytes < slowBytes
	*p = pace{}
	return slow
}

// guarded calls do with stallTime as its time limit.
func guarded(ctx context.Context, do func(ctx context.Context) error) error {
	return within(ctx, stallTime, do)
}

// within calls do with a time limit.
func within(ctx context.Context, most time.Duration, do func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, most, errStalled)
	defer cancel()
	err := do(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errStalled) {
		return errStalled
	}
	return err
}
