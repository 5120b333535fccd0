package larder

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/larder-data/larder/key"
)

// Metrics count what a Larder did since it was opened.
type Metrics struct {
	MemoryHits   int64         // values handed out from memory
	StoreHits    int64         // values read from the store
	Computed     int64         // executions, failed ones included
	Failed       int64         // executions that returned an error
	Verified     int64         // hits that were computed again to check them
	Mismatches   int64         // those that did not come out the same
	Unkept       int64         // records the store could not take
	BytesRead    int64         // payload bytes read from the store
	BytesWritten int64         // payload bytes written to the store
	Computing    time.Duration // spent in executions
	Saved        time.Duration // the cost of what hits did not execute
}

type counters struct {
	memoryHits, storeHits, computed, failed, unkept atomic.Int64
	verified, unreproducible                        atomic.Int64
	bytesRead, bytesWritten, computing, saved       atomic.Int64
}

// Metrics returns the counts so far.
func (l *Larder) Metrics() Metrics {
	c := &l.count
	return Metrics{
		MemoryHits: c.memoryHits.Load(), StoreHits: c.storeHits.Load(),
		Computed: c.computed.Load(), Failed: c.failed.Load(), Verified: c.verified.Load(), Mismatches: c.unreproducible.Load(), Unkept: c.unkept.Load(),
		BytesRead: c.bytesRead.Load(), BytesWritten: c.bytesWritten.Load(),
		Computing: time.Duration(c.computing.Load()), Saved: time.Duration(c.saved.Load()),
	}
}

// chain is the list of keys being computed around a context, innermost first.
type chain struct {
	key  key.Key
	next *chain
}

type chainKey struct{}

// withComputing marks the context of a computation with its key.
func withComputing(ctx context.Context, k key.Key) context.Context {
	next, _ := ctx.Value(chainKey{}).(*chain)
	return context.WithValue(ctx, chainKey{}, &chain{k, next})
}

// computing reports whether ctx belongs to a computation of k.
func computing(ctx context.Context, k key.Key) bool {
	c, _ := ctx.Value(chainKey{}).(*chain)
	for ; c != nil; c = c.next {
		if c.key == k {
			return true
		}
	}
	return false
}
