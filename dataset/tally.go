package dataset

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/larder-data/larder"
)

// A Tally counts what happened at one node. It may be used by many goroutines.
type Tally struct {
	// Computed counts executions, of which a sample that is not kept may have
	// several. FromMemory and FromStore count samples that were handed out of
	// there, each once, however often it is read.
	Computed, FromMemory, FromStore, Failed atomic.Int64
	BytesRead, BytesWritten                 atomic.Int64 // encoded bytes, from and to the store
	// Done of Total is the progress of whoever goes through all samples of
	// the node; Total is 0 where nobody does.
	Done, Total atomic.Int64

	// Settled says that every sample was handed out: hits on what is read
	// back after that are not counted again.
	Settled atomic.Bool

	// Loose says that a result depended on more than items and parameters, or
	// was handed out and not kept.
	Loose atomic.Bool

	nanos, saved atomic.Int64
	ahead        atomic.Int64 // computations that are handed out again to those they were made for

	places                          sync.Map     // of *handed, by the node or one of its outputs
	handed                          atomic.Int64 // samples, each once
	againFromMemory, againFromStore atomic.Int64 // of samples that were handed out of there before
}

// Spent returns the time spent in the node's own function.
func (t *Tally) Spent() time.Duration { return time.Duration(t.nanos.Load()) }

// Saved returns the time that hits did not spend.
func (t *Tally) Saved() time.Duration { return time.Duration(t.saved.Load()) }

// Save counts time that was not spent.
func (t *Tally) Save(d time.Duration) { t.saved.Add(int64(d)) }

// Take adds what another tally has counted of computations that were made ahead of
// those who will ask for them: as many hits after that do not count, as what they save
// has just been spent.
func (t *Tally) Take(o *Tally) {
	t.Computed.Add(o.Computed.Load())
	t.ahead.Add(o.Computed.Load())
	t.Failed.Add(o.Failed.Load())
	t.BytesWritten.Add(o.BytesWritten.Load())
	t.nanos.Add(o.nanos.Load())
}

// isAhead reports whether a hit is on what was computed ahead.
func (t *Tally) isAhead() bool {
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

// note takes in what is said of a result that was handed out.
func (t *Tally) note(reads []larder.Read, unkept error) {
	if len(reads) > 0 || unkept != nil {
		t.Loose.Store(true)
	}
}
