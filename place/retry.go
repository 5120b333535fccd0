package place

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Limits on how long is tried.
const (
	tries     = 6 // without progress
	firstWait = 200 * time.Millisecond
	mostWait  = 20 * time.Second // also if the server asks for more
	// progressBytes must come for tries to count anew, so that a server which breaks off all
	// the time does not keep anybody for ever.
	progressBytes = 64 << 10
)

// stallTime is for how long no byte may come. Tests have less patience.
var stallTime = 30 * time.Second

// pause waits before another try.
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

// again does something until it is done, or fails for good.
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

// wait waits after a failure, the n-th, of something that is to be tried again, and returns the
// error of what is not.
func wait(ctx context.Context, n int, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	e, ok := errors.AsType[*AgainError](err)
	if !ok {
		return err
	}
	if n+1 >= tries {
		return &triedError{e.Err}
	}
	TrafficOf(ctx).retry()
	return pause(ctx, delay(n, e.After))
}

// delay draws how long to wait, so that many who failed at once do not come back at once.
func delay(n int, asked time.Duration) time.Duration {
	if asked > 0 {
		return min(asked, mostWait)
	}
	return rand.N(min(firstWait<<n, mostWait)) + 1
}

// A triedError is what failed at every try.
type triedError struct{ err error }

func (e *triedError) Error() string { return e.err.Error() + "; it was tried several times" }

func (e *triedError) Unwrap() error { return e.err }

// errStalled ends what nothing comes of.
var errStalled = &AgainError{Err: errors.New("nothing came for too long: the server or the network stands still")}

// slowTime is how long is waited for slowBytes: what comes slower, 1 KiB a second, is given up.
// They are fewer than progressBytes, so that tries come to an end. Tests have less patience.
var slowTime = time.Minute

const slowBytes = 60 << 10

// errSlow ends what comes byte by byte.
var errSlow = &AgainError{Err: errors.New("less than 1 KiB came in a second, for a minute: the server or the network is too slow")}

// A pace is how many bytes came while they were waited for.
type pace struct {
	waited time.Duration
	bytes  int
}

// slow counts bytes, and reports whether they come too slowly.
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

// guarded does something that must end within the time in which something must come.
func guarded(ctx context.Context, do func(ctx context.Context) error) error {
	return within(ctx, stallTime, do)
}

// within does something that must end within a time.
func within(ctx context.Context, most time.Duration, do func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, most, errStalled)
	defer cancel()
	err := do(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errStalled) {
		return errStalled
	}
	return err
}
