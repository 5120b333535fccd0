package dataset

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/larder-data/larder"
)

// NodeStats holds the counters of one node. It may be used by many goroutines.
type NodeStats struct {
	// Computed counts executions; a sample that is not cached may have several. FromMemory
	// and FromStore count samples returned from there, each once however often it is read.
	Computed, FromMemory, FromStore, Failed atomic.Int64
	BytesRead, BytesWritten                 atomic.Int64 // encoded bytes, from and to the store
	// Done of Total is the progress of a pass over all samples of the node; Total is 0 if
	// there is none.
	Done, Total atomic.Int64

	// Settled says that every sample was returned: later hits are not counted again.
	Settled atomic.Bool

	// Loose says that a result depended on more than items and parameters, or was returned
	// without being cached.
	Loose atomic.Bool

	nanos, saved atomic.Int64
	ahead        atomic.Int64 // computations whose first hit does not count

	places                          sync.Map     // *handed of the node or one of its outputs, by name
	handed                          atomic.Int64 // distinct samples
	againFromMemory, againFromStore atomic.Int64 // repeated reads
}

// Spent returns the time spent in the node's own function.
func (t *NodeStats) Spent() time.Duration { return time.Duration(t.nanos.Load()) }

// Saved returns the time that hits saved.
func (t *NodeStats) Saved() time.Duration { return time.Duration(t.saved.Load()) }

// Save adds saved time.
func (t *NodeStats) Save(d time.Duration) { t.saved.Add(int64(d)) }

// Take adds the counters of computations that ran before samples were requested. As many
// later hits do not count, because the time that they save has just been spent.
func (t *NodeStats) Take(o *NodeStats) {
	t.Computed.Add(o.Computed.Load())
	t.ahead.Add(o.Computed.Load())
	t.Failed.Add(o.Failed.Load())
	t.BytesWritten.Add(o.BytesWritten.Load())
	t.nanos.Add(o.nanos.Load())
}

// isAhead reports whether a hit is on a result that was computed before its request.
func (t *NodeStats) isAhead() bool {
	for {
		n := t.ahead.Load()
		if n == 0 {
			return false
		}
		if t.ahead.CompareAndSwap(n, n-1) {
			return true
		}
	}
}

// note records the dependencies of a returned result.
func (t *NodeStats) note(reads []larder.Read, uncached error) {
	if len(reads) > 0 || uncached != nil {
		t.Loose.Store(true)
	}
}
