package objectstore

import (
	"context"
	"sync"
	"testing"
	"time"
)

// Hurry removes the waits between tries and sets the stall time until the test ends. The returned function returns the
// waits skipped since its last call.
func Hurry(t testing.TB, stall time.Duration) func() []time.Duration {
	var mu sync.Mutex
	var waits []time.Duration
	oldPause, oldStall := pause, stallTime
	t.Cleanup(func() { pause, stallTime = oldPause, oldStall })
	stallTime = stall
	pause = func(ctx context.Context, d time.Duration) error {
		mu.Lock()
		defer mu.Unlock()
		waits = append(waits, d)
		return context.Cause(ctx)
	}
	return func() []time.Duration {
		mu.Lock()
		defer mu.Unlock()
		w := waits
		waits = nil
		return w
	}
}

// Slow sets the time after which reads slower than 1 KiB a second are given up, until the test ends.
func Slow(t testing.TB, after time.Duration) {
	before := slowTime
	slowTime = after
	t.Cleanup(func() { slowTime = before })
}

// The limits.
const (
	Tries    = tries
	MostWait = maxWait
	Fewest   = fewest
	Dear     = dear
	Saved    = maxSaved
	Quiet    = quietTime
)

// Late makes answers late only on a send to the returned channel, until the test ends.
func Late(t testing.TB) chan<- time.Time {
	at, old := make(chan time.Time), late
	was := AskOnce.Swap(false)
	t.Cleanup(func() { late = old; AskOnce.Store(was) })
	late = func(time.Duration) (<-chan time.Time, func() bool) { return at, func() bool { return true } }
	return at
}
