package place

import (
	"context"
	"sync"
	"testing"
	"time"
)

// Hurry has nobody wait between tries until a test is over, and stall taken for what stands
// still. It returns what says for how long would have been waited since it was called last.
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

// Slow has what comes slower than 1 KiB a second be given up after a time, until a test is over.
func Slow(t testing.TB, after time.Duration) {
	before := slowTime
	slowTime = after
	t.Cleanup(func() { slowTime = before })
}

// The limits.
const (
	Tries    = tries
	MostWait = mostWait
	Fewest   = fewest
	Dear     = dear
	Saved    = mostSaved
	Quiet    = quietTime
)

// Late has answers be late when what is returned is sent to, and nothing else, until a test is over.
func Late(t testing.TB) chan<- time.Time {
	at, old := make(chan time.Time), late
	was := AskOnce.Swap(false)
	t.Cleanup(func() { late = old; AskOnce.Store(was) })
	late = func(time.Duration) (<-chan time.Time, func() bool) { return at, func() bool { return true } }
	return at
}
