package larder

import (
	"sync/atomic"
	"time"
)

// Metrics count what a Larder did since it was opened.
type Metrics struct {
	MemoryHits   int64         // values returned from memory
	StoreHits    int64         // values read from the store
	Computed     int64         // executions, including failed ones
	Failed       int64         // executions that returned an error
	Verified     int64         // hits that were computed again
	Mismatches   int64         // verified hits whose new result differed
	Uncached     int64         // results returned but not cached
	BytesRead    int64         // payload bytes read from the store
	BytesWritten int64         // payload bytes written to the store
	Computing    time.Duration // spent in executions
	Saved        time.Duration // cost of the executions that hits avoided
}

type counters struct {
	memoryHits, storeHits, computed, failed, uncached atomic.Int64
	verified, unreproducible                          atomic.Int64
	bytesRead, bytesWritten, computing, saved         atomic.Int64
}

// Metrics returns the counts so far.
func (l *Larder) Metrics() Metrics {
	c := &l.count
	return Metrics{
		MemoryHits: c.memoryHits.Load(), StoreHits: c.storeHits.Load(),
		Computed: c.computed.Load(), Failed: c.failed.Load(), Verified: c.verified.Load(), Mismatches: c.unreproducible.Load(), Uncached: c.uncached.Load(),
		BytesRead: c.bytesRead.Load(), BytesWritten: c.bytesWritten.Load(),
		Computing: time.Duration(c.computing.Load()), Saved: time.Duration(c.saved.Load()),
	}
}
